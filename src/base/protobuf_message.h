#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace synthesizer {

/// A message of Protocol Buffers as its bytes, field after field. Written by hand: LibTorch brings a protobuf
/// of its own, of another version than the system's, and a program must not mix the two.
class ProtobufMessage {
 public:
  ProtobufMessage& whole(uint64_t field, int64_t value) {
    return key(field, 0).varint(static_cast<uint64_t>(value));
  }
  ProtobufMessage& real(uint64_t field, double value) { return key(field, 1).raw(value); }
  ProtobufMessage& single(uint64_t field, float value) { return key(field, 5).raw(value); }
  /// A string, bytes, or a message within this one.
  ProtobufMessage& bytes(uint64_t field, std::string_view value) {
    length(field, value.size()).bytes_ += value;
    return *this;
  }
  /// The start of a field of so many bytes, which follow elsewhere.
  ProtobufMessage& length(uint64_t field, uint64_t size) { return key(field, 2).varint(size); }
  const std::string& done() const { return bytes_; }

 private:
  ProtobufMessage& key(uint64_t field, uint64_t wire_type) { return varint(field << 3 | wire_type); }
  ProtobufMessage& varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
    return *this;
  }
  template <typename Number>
  ProtobufMessage& raw(Number value) {  // little-endian, as this processor is
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }

  std::string bytes_;
};

}  // namespace synthesizer
