#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

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

void check_options_used(const Recipe& recipe) {
  const auto unused = unused_options(recipe.model, find_task(recipe.task).sides);
  if (unused.empty()) return;
  const auto& model = recipe.model;
  std::vector<std::string> attentions = model.attention;
  if (!model.encoder_attention.empty()) attentions = model.encoder_attention;
  if (!model.decoder_attention.empty())
    attentions.insert(attentions.end(), model.decoder_attention.begin(), model.decoder_attention.end());
  invalid(fmt::format("model.options.{}: {} has no such option (synth variants lists them): leave it out",
                      unused.front(), fmt::join(attentions, ", ")));
}

void check(const Recipe& recipe) {
  const TaskInfo& task = find_task(recipe.task);
  check_at_least("seed", recipe.seed, 0);
  const DataOptions& data = recipe.data;
  if (data.metrics.empty()) invalid("data.metrics is empty: name at least one of bleu, chrf, exact_match");
  for (const std::string& metric : data.metrics)
    check_one_of("data.metrics", metric, {"bleu", "chrf", "exact_match"});
  check_at_least("data.history_turns", data.history_turns, 0);
  check_at_least("data.mixing_cap", data.mixing_cap, 0);
  if (!(data.mixing_temperature >= 1) || !std::isfinite(data.mixing_temperature))
    invalid(fmt::format("data.mixing_temperature is {}: it must be at least 1", data.mixing_temperature));
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
