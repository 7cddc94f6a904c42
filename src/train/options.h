#pragma once

#include <cstdint>
#include <string>

#include "base/choice.h"

namespace synthesizer {

// What users choose from; reading, writing, help and messages use these names.

enum class OptimizerKind { adam, adamw, adafactor };
inline Choices choices(OptimizerKind) {
  static constexpr ChoiceName names[] = {{"adam"}, {"adamw"}, {"adafactor"}};
  return names;
}

/// Of the learning rate, after the warm-up.
enum class Schedule { inverse_sqrt, t5, noam, linear, cosine, constant };
inline Choices choices(Schedule) {
  static constexpr ChoiceName names[] = {
      {"inverse-sqrt"}, {"t5", "constant over the warm-up, then as inverse-sqrt"},
      {"noam"},         {"linear"},
      {"cosine"},       {"constant"}};
  return names;
}

enum class Precision { float32, bfloat16 };
inline Choices choices(Precision) {
  static constexpr ChoiceName names[] = {{"float32"}, {"bfloat16", "autocast"}};
  return names;
}

/// How a model is trained. Each field is a key of [train] in a recipe; see task/recipe_keys.cpp for their
/// help.
struct TrainOptions {
  int64_t steps = 10000;
  int64_t batch_tokens = 4096;
  int64_t batch_examples = 0;  ///< 0: no limit
  int64_t accumulate = 1;      ///< batches per step
  OptimizerKind optimizer = OptimizerKind::adam;
  double learning_rate = 5e-4;
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9;
  double logit_learning_rate = 1;  ///< factor of the learning rate for parameters that are logits
  double weight_decay = 0;         ///< of matrices and embeddings
  Schedule schedule = Schedule::inverse_sqrt;
  int64_t warmup = 1000;
  double final_learning_rate = 0;  ///< of linear and cosine
  double clip = 1;                 ///< of the gradient's norm; 0: none
  Precision precision = Precision::float32;
  double label_smoothing = 0.1;
  double ponder_cost = 0.01;  ///< weight of what pondering costs, with adaptive halting
  int64_t eval_every = 500, save_every = 500, log_every = 50;  ///< steps
  std::string watch = "loss";    ///< the score on dev that says which weights are best
  int64_t keep = 1;              ///< checkpoints kept for averaging
  int64_t patience = 0;          ///< evaluations without a better one before it stops; 0: never
  int64_t threads = 0;           ///< at most kMaxThreads; 0: usable_cores()
  bool shard_optimizer = false;  ///< each process keeps the optimizer's state of its share of the parameters
  bool checkpoint_activations = false;  ///< layers are computed again in the backward pass: less memory
  std::string init_from;                ///< a run whose weights to start from
};

/// Throws InvalidInput, with the recipe's key, where a value is out of its range.
void check(const TrainOptions& options);

}  // namespace synthesizer
