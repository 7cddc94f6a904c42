#include "task/data_files.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"

namespace synthesizer {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> matches(const std::string& pattern) {
  glob_t found = {};
  const int status = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> files(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (status == GLOB_NOSPACE) throw std::bad_alloc();
  std::sort(files.begin(), files.end());  // by bytes, the same on every machine
  return files;
}

}  // namespace

Shards expand_patterns(const Recipe& recipe, const std::vector<std::string>& patterns) {
  Shards shards;
  for (const std::string& pattern : patterns) {
    if (pattern.empty()) {
      shards.emplace_back();
      continue;
    }
    const std::string path = data_path(recipe, pattern);
    std::error_code none;
    if (pattern.find_first_of("*?[") == pattern.npos || fs::exists(path, none)) {
      shards.push_back({path});
      continue;
    }
    shards.push_back(matches(path));
    if (shards.back().empty())
      invalid(fmt::format("no file matches {}: check data.root and the pattern", path));
  }
  return shards;
}

std::vector<std::string> side_by_side(const std::vector<std::string>& patterns, const Shards& shards) {
  std::vector<std::string> paths;
  for (size_t i = 1; i < shards.size(); ++i) {
    if (shards[i].size() == shards[0].size()) continue;
    invalid(fmt::format("{} names {} files and {} {}: parallel files need as many shards", patterns[0],
                        shards[0].size(), patterns[i], shards[i].size()));
  }
  for (size_t shard = 0; shard < shards[0].size(); ++shard) {
    for (const auto& field : shards) paths.push_back(field[shard]);
  }
  return paths;
}

void keep_fields(Files& files, size_t fields) {
  const size_t width = parallel_width(files);
  std::vector<std::string> kept;
  for (size_t begin = 0; begin < files.paths.size(); begin += width) {
    for (size_t i = 0; i < std::min(fields, width); ++i) kept.push_back(files.paths[begin + i]);
  }
  if (files.side_by_side > 0) files.side_by_side = std::min(fields, width);
  files.paths = std::move(kept);
}

std::string cache_folder(const Recipe& recipe) {
  if (!recipe.data.cache.empty()) return fs::absolute(recipe.data.cache).string();
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return std::string(cache) + "/synthesizer";
  if (const char* home = std::getenv("HOME"); home && *home) return std::string(home) + "/.cache/synthesizer";
  return (fs::temp_directory_path() / "synthesizer-cache").string();
}

}  // namespace synthesizer
