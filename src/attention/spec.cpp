#include "attention/spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attention/baselines.h"
#include "attention/mixture.h"
#include "attention/string_util.h"
#include "base/error.h"
#include "base/nearest.h"

namespace synthesizer {

std::vector<const Variant*> parse_spec(std::string_view spec) {
  std::vector<const Variant*> members;
  for (size_t begin = 0; begin <= spec.size();) {
    size_t end = std::min(spec.find('+', begin), spec.size());
    const std::string_view word = trimmed(spec.substr(begin, end - begin));
    if (word.empty()) {
      invalid(fmt::format("attention '{}' has an empty member: write names joined by '+', as in R+V", spec));
    }
    if (find_baseline(word)) {
      invalid(
          fmt::format("attention '{}': {} has no logits, so it cannot be a member of a mixture", spec, word));
    }
    const Variant* member = &find_variant(word);
    if (std::find(members.begin(), members.end(), member) != members.end()) {
      invalid(fmt::format("attention '{}' names {} twice: every member of a mixture is named once", spec,
                          member->name));
    }
    members.push_back(member);
    begin = end + 1;
  }
  return members;
}

std::string short_spec(const std::vector<const Variant*>& members) {
  std::vector<std::string> names;
  for (const Variant* member : members) names.push_back(member->abbreviation);
  return fmt::format("{}", fmt::join(names, "+"));
}

std::vector<OptionInfo> options_of(const std::vector<const Variant*>& members) {
  std::vector<OptionInfo> all;
  auto add = [&](const OptionInfo& option) {
    bool known =
        std::any_of(all.begin(), all.end(), [&](const OptionInfo& o) { return o.name == option.name; });
    if (!known) all.push_back(option);
  };
  for (const Variant* member : members) {
    for (const OptionInfo& option : member->options) add(option);
  }
  if (members.size() > 1) {
    for (const OptionInfo& option : Mixture::options()) add(option);
  }
  return all;
}

std::string short_spec(std::string_view attention) {
  const auto found = find_baseline(attention);
  return found ? found->spec() : short_spec(parse_spec(attention));
}

std::vector<OptionInfo> options_of(std::string_view attention) {
  const auto found = find_baseline(attention);
  return found ? found->baseline->options : options_of(parse_spec(attention));
}

void check_extra_options(const AttentionOptions& options) {
  std::vector<std::string> known;
  for (const OptionInfo& option : options_of(options.attention)) known.push_back(option.name);
  for (const auto& [name, value] : options.options.values()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    invalid(fmt::format("attention {} has no option '{}'{} (it takes: {})", short_spec(options.attention),
                        name, did_you_mean(name, known),
                        known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  }
}

}  // namespace synthesizer
