#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace synthesizer {

/// The members of a zip archive in memory: pytorch_model.bin, NumPy's .npz. Stored and deflated members,
/// zip64 included; nothing else of the format.
class ZipArchive {
 public:
  /// `name`: the file, for messages. The bytes must outlive the archive. Throws InvalidInput, "NAME is
  /// damaged: …", where they are not an archive or one that is cut off.
  ZipArchive(std::string_view bytes, std::string name);

  /// Whether a file begins as a zip archive does.
  static bool is_zip(std::string_view bytes) { return bytes.starts_with("PK\x03\x04"); }

  bool has(const std::string& member) const { return members_.contains(member); }
  std::string first_ending_with(std::string_view ending) const;  ///< a name; "" where there is none
  const auto& members() const { return members_; }
  uint64_t bytes() const { return bytes_.size(); }  ///< of the whole archive
  /// The bytes of a member that is stored as it is; throws InvalidInput where it is compressed or missing.
  std::string_view stored(const std::string& member) const;
  uint64_t size(const std::string& member) const { return find(member).size; }  ///< unpacked
  /// Unpacks any member to where there are size() bytes.
  void unpack(const std::string& member, char* to) const;

 private:
  struct Member {
    uint64_t offset = 0;  ///< of its local header
    uint64_t compressed = 0, size = 0;
    uint16_t method = 0;
  };
  [[noreturn]] void damaged(const std::string& why) const;
  template <typename T>
  T number(uint64_t place) const;
  std::string_view slice(uint64_t place, uint64_t count) const;
  void read_directory(uint64_t place, uint64_t count);
  const Member& find(const std::string& member) const;
  std::string_view raw(const Member& member) const;

  std::string_view bytes_;
  std::string name_;
  std::map<std::string, Member> members_;
};

}  // namespace synthesizer
