#include <fmt/format.h>

#include "base/error.h"
#include "base/range.h"
#include "task/recipe.h"
#include "task/registry.h"

namespace synthesizer {
namespace {

void fits(const char* key, int64_t value, int64_t limit) {
  if (value <= limit) return;
  invalid(fmt::format("{} is {}, over model.max_length {}: the model cannot take it", key, value, limit));
}

}  // namespace

void check(const Recipe& recipe) {
  const TaskInfo& task = find_task(recipe.task);
  check_at_least("seed", recipe.seed, 0);
  const DataOptions& data = recipe.data;
  check_one_of("data.format", data.format, {"auto", "lines", "tsv", "jsonl"});
  check_one_of("data.too_long", data.too_long, {"error", "skip", "truncate"});
  check_one_of("data.sequence", data.sequence, {"stream", "lines"});
  check_at_least("data.history_turns", data.history_turns, 0);
  check_at_least("data.mixing_cap", data.mixing_cap, 0);
  if (!(data.corruption > 0 && data.corruption < 1))
    invalid(fmt::format("data.corruption is {}: it must be above 0 and below 1", data.corruption));
  if (!(data.mean_span >= 1))
    invalid(fmt::format("data.mean_span is {}: it must be at least 1", data.mean_span));
  check_at_least("data.vocabulary", data.vocabulary, 0);
  check_at_least("data.max_length", data.max_length, 0);
  check_at_least("data.max_source_length", data.max_source_length, 0);
  if (!(data.character_coverage > 0 && data.character_coverage <= 1))
    invalid(fmt::format("data.character_coverage is {}: it must be above 0 and at most 1",
                        data.character_coverage));
  check(recipe.model, task.sides);
  fits("data.max_length", data.max_length, recipe.model.max_length);
  fits("data.max_source_length", data.max_source_length, recipe.model.max_length);
  check(recipe.train);
  check(recipe.decode);
}

}  // namespace synthesizer
