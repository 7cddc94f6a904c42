#include "report/comparable.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"

namespace synthesizer {
namespace {

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::set<std::string> contents_of(const RunRecord& run) {
  std::set<std::string> contents;
  for (const auto& [path, hash] : run.provenance.data) contents.insert(hash);
  return contents;
}

/// "train.en.gz": the files of one run that the other has not, by name.
std::string only_in(const RunRecord& run, const RunRecord& other) {
  const auto known = contents_of(other);
  std::vector<std::string> names;
  for (const auto& [path, hash] : run.provenance.data) {
    if (!known.contains(hash)) names.push_back(file_name(path));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string whose(const RunRecord& run, const RunRecord& other) {
  const std::string names = only_in(run, other);
  return fmt::format("{} has {}", run.path, names.empty() ? "nothing else" : names);
}

void check_pair(const RunRecord& first, const RunRecord& other) {
  if (first.task() != other.task()) {
    invalid(fmt::format("{} is a run of task {} and {} of task {}: compare runs of one task", first.path,
                        first.task(), other.path, other.task()));
  }
  if (contents_of(first) == contents_of(other)) return;
  const std::string ours = only_in(first, other), theirs = only_in(other, first);
  if (ours == theirs) {
    invalid(
        fmt::format("{} and {} were trained on different data: their {} differ in contents; compare runs of "
                    "the same files",
                    first.path, other.path, ours));
  }
  invalid(fmt::format("{} and {} were trained on different data: {}, {}; compare runs of the same files",
                      first.path, other.path, whose(first, other), whose(other, first)));
}

/// What tells a run from others of the same attention: ", seed 2, width 256"; nothing where it is more than
/// anybody would read.
std::string distinction(const SettingsCompared& compared, size_t run) {
  constexpr size_t kMost = 3;
  if (compared.differ.size() > kMost) return "";
  std::string text;
  for (const auto& [key, texts] : compared.differ) {
    if (!texts[run].empty()) text += fmt::format(", {} {}", key.substr(key.rfind('.') + 1), texts[run]);
  }
  return text;
}

std::string label_of(const std::vector<const RunRecord*>& runs, const RunRecord& wanted) {
  std::vector<const Settings*> alike;
  size_t place = 0;
  for (const RunRecord* run : runs) {
    if (run->attention() != wanted.attention()) continue;
    if (run == &wanted) place = alike.size();
    alike.push_back(&run->settings);
  }
  return wanted.attention() + distinction(compare_settings(alike), place);
}

}  // namespace

void check_comparable(const std::vector<const RunRecord*>& runs) {
  for (size_t i = 1; i < runs.size(); ++i) check_pair(*runs[0], *runs[i]);
}

std::vector<std::string> labels_of(const std::vector<const RunRecord*>& runs) {
  std::vector<std::string> plain;
  for (const RunRecord* run : runs) plain.push_back(label_of(runs, *run));
  std::vector<std::string> labels = plain;
  for (size_t i = 0; i < runs.size(); ++i) {
    bool alike = false, namesake = false;
    for (size_t j = 0; j < runs.size(); ++j) {
      if (j == i || plain[j] != plain[i]) continue;
      alike = true;
      namesake = namesake || runs[j]->name == runs[i]->name;
    }
    if (alike) labels[i] += ", " + (namesake ? runs[i]->path : runs[i]->name);
  }
  return labels;
}

}  // namespace synthesizer
