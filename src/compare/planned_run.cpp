#include "compare/planned_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/number_text.h"
#include "base/range.h"
#include "run/run_folder.h"
#include "run/run_lock.h"
#include "run/run_record.h"
#include "runtime/child_processes.h"
#include "task/data_changes.h"
#include "task/registry.h"
#include "text/file_stamp.h"

namespace synthesizer {
namespace {

constexpr int64_t kMostSeeds = 1000;
constexpr auto kMostRuns = static_cast<int64_t>(ChildProcesses::kMost);  // each trains in its own process

/// Parted at commas, without the blanks around.
std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const size_t first = list.find_first_not_of(' ', begin);
    const size_t last = end == 0 ? std::string::npos : list.find_last_not_of(' ', end - 1);
    if (first >= end || last == std::string::npos || last < first)
      invalid(fmt::format("--attention '{}': there is nothing between two commas, or nothing at all", list));
    parts.push_back(list.substr(first, last - first + 1));
    if (std::count(parts.begin(), parts.end(), parts.back()) > 1)
      invalid(fmt::format("--attention names {} twice: once is enough", parts.back()));
    begin = end + 1;
  }
  return parts;
}

/// A folder's name: a colon in one is awkward to type.
std::string folder_name(std::string attention, int64_t seed, bool several) {
  std::replace(attention.begin(), attention.end(), ':', '-');
  return several ? fmt::format("{}-seed{}", attention, seed) : attention;
}

/// An option is for those runs that take it, and for one at least.
void drop_unused_options(std::vector<PlannedRun>& runs) {
  std::map<std::string, size_t> without;  // how many runs do not take it
  for (PlannedRun& run : runs) {
    ModelOptions& model = run.recipe.model;
    for (const std::string& name : unused_options(model, find_task(run.recipe.task).sides)) {
      if (++without[name] == runs.size())
        invalid(
            fmt::format("model.options.{}: none of these attentions has such an option (synth variants "
                        "lists them): leave it out",
                        name));
      OptionMap kept;
      for (const auto& [key, value] : model.attention_options.values()) {
        if (key != name) kept.set(key, value);
      }
      model.attention_options = std::move(kept);
    }
  }
}

/// Path and hash of the files that a run of this recipe learns from and is validated on, as they are now. A
/// file that is gone is left out: a finished run does not need it.
std::map<std::string, std::string> current_data(const Recipe& recipe) {
  const std::string memory = cache_folder(recipe) + "/hashes";
  std::map<std::string, std::string> hashes;
  for (const std::vector<std::string>* split : {&recipe.data.train, &recipe.data.dev}) {
    if (split->empty()) continue;
    Files files = files_of(recipe, *split);
    // Further files are further references: training reads none of them, and run.json has no hash of them.
    if (!files.converter && parallel(files)) keep_fields(files, 2);
    for (const std::string& path : files.paths) {
      if (stamp_of(path)) hashes[path] = remembered_hash(memory, path);
    }
  }
  return hashes;
}

}  // namespace

PlannedRun::State PlannedRun::state() const {
  const RunFolder run{folder};
  if (!std::filesystem::exists(run.config())) {
    if (!RunLock::free_for_new_run(folder))
      invalid(fmt::format("{} exists and is not a run folder: choose another --run, or delete it", folder));
    return State::absent;
  }
  const Recipe before = load_recipe(run.config());
  const auto differ = differing_keys(recipe, before);
  if (!differ.empty()) {
    invalid(
        fmt::format("{} was trained with another recipe; it differs in {}: choose another --run, or "
                    "delete it",
                    folder, fmt::join(differ, ", ")));
  }
  if (!std::filesystem::exists(run.state())) return State::absent;
  refuse_changes(folder, changed_files(run.record(), current_data(recipe)));
  const bool longer = recipe.train.steps > before.train.steps;
  return !longer && read_run(folder).finished() ? State::finished : State::interrupted;
}

std::vector<PlannedRun> planned_runs(const std::string& recipe, const std::vector<std::string>& changes,
                                     const std::string& attentions, int64_t seeds,
                                     const std::string& folder) {
  check_between("--seeds", seeds, 1, kMostSeeds);
  const auto parts = parts_of(attentions);
  if (const auto all = static_cast<int64_t>(parts.size()) * seeds; all > kMostRuns) {
    invalid(fmt::format("--seeds is {}: that many runs of {} attention variants are {}, and {} is the most",
                        seeds, parts.size(), with_thousands(all), with_thousands(kMostRuns)));
  }
  std::vector<PlannedRun> runs;
  for (const std::string& attention : parts) {
    for (int64_t n = 0; n < seeds; ++n) {
      PlannedRun run{attention, {}, changes, {}};
      run.changes.push_back("model.attention=" + attention);
      run.recipe = load_recipe(recipe, run.changes);
      if (n > 0) {
        run.changes.push_back(fmt::format("seed={}", run.recipe.seed + n));
        run.recipe = load_recipe(recipe, run.changes);
      }
      run.folder = folder + "/" + folder_name(attention, run.recipe.seed, seeds > 1);
      runs.push_back(std::move(run));
    }
  }
  drop_unused_options(runs);
  return runs;
}

}  // namespace synthesizer
