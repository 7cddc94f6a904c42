#include "serve/run_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "run/run_folder.h"

namespace synthesizer::serve {
namespace {

namespace fs = std::filesystem;

bool holds_run(const fs::path& folder) {
  return fs::is_regular_file(RunFolder{folder.string()}.config());
}

std::vector<std::string> runs_below(const fs::path& folder) {
  std::vector<std::string> found;
  if (!fs::is_directory(folder)) return found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (holds_run(entry.path())) found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// The last components of a path.
std::string path_end(const std::string& folder, int components) {
  fs::path path = fs::absolute(folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // "runs/x/"
  std::string name = path.filename().string();
  if (components > 1) name = (path.parent_path().filename() / name).string();
  return name;
}

}  // namespace

RunList list_runs(const std::vector<std::string>& paths) {
  RunList list;
  std::vector<std::string> folders;
  for (const std::string& path : paths) {
    if (holds_run(path)) {
      folders.push_back(path);
      continue;
    }
    if (!fs::exists(path)) RunFolder{path}.check_is_run();  // throws
    const auto found = runs_below(path);
    if (found.empty()) list.left_out.push_back(path);
    folders.insert(folders.end(), found.begin(), found.end());
  }
  if (folders.empty()) RunFolder{paths.front()}.check_is_run();  // throws
  std::map<std::string, int> count;
  for (const std::string& folder : folders) ++count[path_end(folder, 1)];
  std::map<std::string, std::string> named;
  for (const std::string& folder : folders) {
    std::string name = path_end(folder, 1);
    if (count[name] > 1) name = path_end(folder, 2);
    const auto [other, added] = named.emplace(name, folder);
    if (!added) {
      invalid(fmt::format("{} and {} would both be served as '{}': rename or link one of the folders",
                          other->second, folder, name));
    }
    list.runs.push_back({name, folder});
  }
  return list;
}

}  // namespace synthesizer::serve
