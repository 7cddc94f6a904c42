#include "compare/member.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/range.h"
#include "report/run_record.h"
#include "train/run_folder.h"

namespace synthesizer {
namespace {

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

}  // namespace

Member::State Member::state() const {
  const RunFolder run{folder};
  if (!std::filesystem::exists(run.config())) {
    if (std::filesystem::exists(folder) && !std::filesystem::is_empty(folder))
      invalid(fmt::format("{} exists and is no run: choose another --run, or delete it", folder));
    return State::absent;
  }
  const Recipe before = load_recipe(run.config());
  const auto differ = contradictions(recipe, before);
  if (!differ.empty()) {
    invalid(
        fmt::format("{} was trained with another recipe; it differs in {}: choose another --run, or "
                    "delete it",
                    folder, fmt::join(differ, ", ")));
  }
  if (!std::filesystem::exists(run.state())) return State::absent;
  const bool longer = recipe.train.steps > before.train.steps;
  return !longer && read_run(folder).finished() ? State::finished : State::interrupted;
}

std::vector<Member> members_of(const std::string& recipe, const std::vector<std::string>& changes,
                               const std::string& attentions, int64_t seeds, const std::string& folder) {
  check_at_least("--seeds", seeds, 1);
  std::vector<Member> members;
  for (const std::string& attention : parts_of(attentions)) {
    for (int64_t n = 0; n < seeds; ++n) {
      Member member{attention, {}, changes, {}};
      member.changes.push_back("model.attention=" + attention);
      member.recipe = load_recipe(recipe, member.changes);
      if (n > 0) {
        member.changes.push_back(fmt::format("seed={}", member.recipe.seed + n));
        member.recipe = load_recipe(recipe, member.changes);
      }
      member.folder = folder + "/" + folder_name(attention, member.recipe.seed, seeds > 1);
      members.push_back(std::move(member));
    }
  }
  return members;
}

}  // namespace synthesizer
