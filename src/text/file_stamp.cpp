#include "text/file_stamp.h"

#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "text/content_hash.h"

namespace synthesizer {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// One file for each path, so that processes do not overwrite what others remember.
std::string memory_file(const std::string& folder, const std::string& path) {
  const std::string whole = fs::absolute(path).lexically_normal().string();
  return folder + "/" + content_hash(whole.data(), whole.size()) + ".json";
}

std::optional<std::string> recall(const std::string& file, const FileStamp& stamp) {
  std::error_code none;
  if (!fs::is_regular_file(file, none)) return std::nullopt;
  try {
    const json memory = json::parse(read_file(file));
    if (memory.at("stamp").get<FileStamp>() == stamp) return memory.at("hash").get<std::string>();
  } catch (const std::exception&) {  // damaged, or of another version
  }
  return std::nullopt;
}

}  // namespace

bool FileStamp::settled() const {
  using namespace std::chrono;
  constexpr int64_t kYoung = 2'000'000'000;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count() - changed > kYoung;
}

std::optional<FileStamp> stamp_of(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  auto nanoseconds = [](const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; };
  return FileStamp{status.st_size, nanoseconds(status.st_mtim), nanoseconds(status.st_ctim),
                   static_cast<int64_t>(status.st_ino)};
}

void to_json(json& json, const FileStamp& stamp) {
  json = {{"bytes", stamp.bytes}, {"changed", stamp.changed}, {"noted", stamp.noted}, {"node", stamp.node}};
}

void from_json(const json& json, FileStamp& stamp) {
  stamp = {json.at("bytes"), json.at("changed"), json.at("noted"), json.at("node")};
}

std::string remembered_hash(const std::string& folder, const std::string& path) {
  const auto stamp = stamp_of(path);
  if (!stamp) return file_hash(path);  // which says what is wrong with it
  const std::string file = memory_file(folder, path);
  if (const auto known = recall(file, *stamp)) return *known;
  std::string hash = file_hash(path);
  if (!stamp->settled() || stamp_of(path) != stamp) return hash;
  try {
    fs::create_directories(folder);
    write_file(file, json{{"path", path}, {"stamp", *stamp}, {"hash", hash}}.dump(
                         -1, ' ', false, json::error_handler_t::replace) +
                         "\n");
  } catch (const std::exception&) {  // it will be hashed again
  }
  return hash;
}

}  // namespace synthesizer
