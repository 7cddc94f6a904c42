#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace synthesizer {

/// One field of a serialized protocol buffer.
struct ProtobufField {
  uint64_t number = 0;
  uint64_t value = 0;      ///< of a varint
  std::string_view bytes;  ///< of anything else
};

/// Takes the fields off a message one by one. Enough to look into a SentencePiece model, whose own classes
/// are not among the library's headers.
class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view message) : rest_(message) {}

  /// Nothing where the message ends or is malformed.
  std::optional<ProtobufField> next();

 private:
  uint64_t varint();
  std::string_view take(uint64_t bytes);

  std::string_view rest_;
};

}  // namespace synthesizer
