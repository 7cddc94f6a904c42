#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"
#include "task/recipe.h"
#include "task/registry.h"

namespace synthesizer {
namespace {

void one_of(const char* key, const std::string& value, const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  std::string list;
  for (const std::string& word : allowed)
    list += (list.empty() ? "" : word == allowed.back() ? " or " : ", ") + word;
  invalid(fmt::format("{} is \"{}\": it must be {}{}", key, value, list, did_you_mean(value, allowed)));
}

void not_negative(const char* key, int64_t value) {
  if (value < 0) invalid(fmt::format("{} is {}: it must be at least 0", key, value));
}

void fits(const char* key, int64_t value, int64_t limit) {
  if (value <= limit) return;
  invalid(fmt::format("{} is {}, over model.max_length {}: the model cannot take it", key, value, limit));
}

}  // namespace

void check(const Recipe& recipe) {
  find_task(recipe.task);
  not_negative("seed", recipe.seed);
  const DataOptions& data = recipe.data;
  one_of("data.format", data.format, {"auto", "lines", "tsv", "jsonl"});
  one_of("data.too_long", data.too_long, {"error", "skip", "truncate"});
  one_of("data.sequence", data.sequence, {"stream", "lines"});
  not_negative("data.vocabulary", data.vocabulary);
  not_negative("data.max_length", data.max_length);
  not_negative("data.max_source_length", data.max_source_length);
  if (!(data.character_coverage > 0 && data.character_coverage <= 1))
    invalid(fmt::format("data.character_coverage is {}: it must be above 0 and at most 1",
                        data.character_coverage));
  check(recipe.model);
  fits("data.max_length", data.max_length, recipe.model.max_length);
  fits("data.max_source_length", data.max_source_length, recipe.model.max_length);
  check(recipe.train);
  check(recipe.decode);
}

}  // namespace synthesizer
