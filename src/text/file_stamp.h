#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace synthesizer {

/// What the file system says of a file's contents without reading them.
struct FileStamp {
  int64_t bytes = 0;
  int64_t changed = 0;  ///< nanoseconds since 1970; programs can set it, as `cp -p` and `rsync -t` do
  int64_t noted = 0;    ///< when the system last noted any change, also one of `changed`: nobody can set it
  int64_t node = 0;     ///< its number on the disk

  bool operator==(const FileStamp&) const = default;
  /// A change within the clock's next tick would leave the time as it is: a stamp this young proves nothing.
  bool settled() const;
};

/// Nothing where there is no regular file of that name.
std::optional<FileStamp> stamp_of(const std::string& path);

void to_json(nlohmann::json& json, const FileStamp& stamp);
void from_json(const nlohmann::json& json, FileStamp& stamp);

/// file_hash(path), from memory where the file has the stamp it had when it was hashed last: large corpora
/// are read once, not at every start. `folder` holds the memory; one that cannot be written is done without.
std::string remembered_hash(const std::string& folder, const std::string& path);

}  // namespace synthesizer
