#include "train/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/nearest.h"

namespace synthesizer {
namespace {

void at_least(const char* key, int64_t value, int64_t least) {
  if (value < least) invalid(fmt::format("train.{} is {}: it must be at least {}", key, value, least));
}

void in_range(const char* key, double value, double least, double below) {
  if (value >= least && value < below) return;
  invalid(fmt::format("train.{} is {}: it must be at least {} and below {}", key, value, least, below));
}

void not_negative(const char* key, double value) {
  if (!(value >= 0) || std::isinf(value))
    invalid(fmt::format("train.{} is {}: it must be a number of at least 0", key, value));
}

void one_of(const char* key, const std::string& value, const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  std::string list;
  for (const std::string& word : allowed)
    list += (list.empty() ? "" : word == allowed.back() ? " or " : ", ") + word;
  invalid(fmt::format("train.{} is \"{}\": it must be {}{}", key, value, list, did_you_mean(value, allowed)));
}

}  // namespace

void check(const TrainOptions& o) {
  at_least("steps", o.steps, 0);
  at_least("batch_tokens", o.batch_tokens, 1);
  at_least("batch_examples", o.batch_examples, 0);
  at_least("accumulate", o.accumulate, 1);
  one_of("optimizer", o.optimizer, {"adam", "adamw", "adafactor"});
  not_negative("learning_rate", o.learning_rate);
  in_range("beta1", o.beta1, 0, 1);
  in_range("beta2", o.beta2, 0, 1);
  not_negative("epsilon", o.epsilon);
  not_negative("weight_decay", o.weight_decay);
  one_of("schedule", o.schedule, {"inverse-sqrt", "noam", "linear", "cosine", "constant"});
  at_least("warmup", o.warmup, 0);
  not_negative("final_learning_rate", o.final_learning_rate);
  not_negative("clip", o.clip);
  one_of("precision", o.precision, {"float32", "bfloat16"});
  in_range("label_smoothing", o.label_smoothing, 0, 1);
  at_least("eval_every", o.eval_every, 1);
  at_least("save_every", o.save_every, 1);
  at_least("log_every", o.log_every, 1);
  at_least("keep", o.keep, 0);
  at_least("patience", o.patience, 0);
  at_least("threads", o.threads, 0);
}

}  // namespace synthesizer
