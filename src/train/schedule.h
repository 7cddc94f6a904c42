#pragma once

#include <cstdint>

#include "train/options.h"

namespace synthesizer {

/// The learning rate of a step, counted from 1. All but t5 rise linearly over `warmup` steps; then
///
///   inverse-sqrt   learning_rate · √(warmup / step)
///   t5             learning_rate · √(warmup / max(step, warmup)): no rise, so 1 / √max(step, 10⁴) where
///                  warmup is 10⁴ and learning_rate 0.01
///   noam           learning_rate · width^-½ · step^-½  (Vaswani et al.; learning_rate is a factor there)
///   linear         falls to final_learning_rate at the last step
///   cosine         the same along half a cosine
///   constant       stays
double learning_rate(const TrainOptions& options, int64_t width, int64_t step);

}  // namespace synthesizer
