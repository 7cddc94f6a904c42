#include "serve/run_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

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

/// The same path however it is written; links stay links, which give a run another name.
fs::path full_path(const std::string& folder) {
  const fs::path path = fs::absolute(folder).lexically_normal();
  return path.has_filename() ? path : path.parent_path();  // "runs/x/"
}

/// The last components of a path.
std::string path_end(const std::string& folder, int components) {
  const fs::path path = full_path(folder);
  std::string name = path.filename().string();
  if (components > 1) name = (path.parent_path().filename() / name).string();
  return name;
}

void check_each_is_given_once(const std::vector<std::string>& folders) {
  std::set<fs::path> paths;
  for (const std::string& folder : folders) {
    if (!paths.insert(full_path(folder)).second)
      invalid(fmt::format("{} is given twice: name each run once", folder));
  }
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
  if (folders.empty()) {
    if (fs::is_regular_file(paths.front()))
      invalid(fmt::format("{} is a file: name a run folder, or a folder of runs", paths.front()));
    RunFolder{paths.front()}.check_is_run();  // throws
  }
  check_each_is_given_once(folders);
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
