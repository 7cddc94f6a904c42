#include "interop/foreign_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"

namespace synthesizer {

MappedFile map_weights(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) invalid(fmt::format("{} is not a file", path));
  if (std::filesystem::file_size(path) == 0) invalid(fmt::format("{} is damaged: it is empty", path));
  refuse_lfs_pointer(path);
  return MappedFile(path);
}

std::string needed_file(const std::string& folder, const std::string& name, const std::string& what) {
  std::string path = folder + "/" + name;
  if (!std::filesystem::is_regular_file(path))
    invalid(fmt::format("{} has no {}, {}: copy it there", folder, name, what));
  refuse_lfs_pointer(path);
  return path;
}

nlohmann::json read_json_object(const std::string& path) {
  constexpr int kDeepest = 100;
  const std::string text = read_file(path);
  refuse_lfs_pointer(path);
  const auto watch = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > kDeepest)
      invalid(fmt::format("{} is damaged: it is nested more than {} deep", path, kDeepest));
    return true;
  };
  auto parsed = nlohmann::json::parse(text, watch, /*allow_exceptions=*/false);
  if (!parsed.is_object()) invalid(fmt::format("{} is damaged: it is not a JSON object", path));
  return parsed;
}

void refuse_lfs_pointer(const std::string& path) {
  constexpr std::string_view kBegin = "version https://git-lfs.github.com/spec/";
  std::string begin(kBegin.size(), '\0');
  std::ifstream(path, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (begin == kBegin) {
    invalid(
        fmt::format("{} is a pointer of Git LFS, not the file itself: run git lfs pull in its folder", path));
  }
}

std::string shortened(std::string_view text) {
  constexpr size_t kLongest = 100;
  if (text.size() <= kLongest) return std::string(text);
  size_t end = kLongest;  // not inside a character of UTF-8
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace synthesizer
