#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace synthesizer {

double learning_rate(const TrainOptions& o, int64_t width, int64_t step) {
  const auto n = static_cast<double>(step);
  const auto warmup = static_cast<double>(std::max<int64_t>(o.warmup, 1));
  if (o.schedule == Schedule::noam) {
    const double peak = o.learning_rate / std::sqrt(static_cast<double>(width));
    return peak * std::min(1 / std::sqrt(n), n / std::pow(warmup, 1.5));
  }
  if (o.schedule == Schedule::t5) return o.learning_rate * std::sqrt(warmup / std::max(n, warmup));
  if (n < warmup) return o.learning_rate * n / warmup;
  if (o.schedule == Schedule::inverse_sqrt) return o.learning_rate * std::sqrt(warmup / n);
  if (o.schedule == Schedule::constant) return o.learning_rate;
  const double rest = std::max(1.0, static_cast<double>(o.steps) - warmup);
  const double gone = std::min(1.0, (n - warmup) / rest);
  const double share =
      o.schedule == Schedule::linear ? 1 - gone : (1 + std::cos(std::numbers::pi * gone)) / 2;
  return o.final_learning_rate + (o.learning_rate - o.final_learning_rate) * share;
}

}  // namespace synthesizer
