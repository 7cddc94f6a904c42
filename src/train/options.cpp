#include "train/options.h"

#include "base/range.h"
#include "runtime/threads.h"

namespace synthesizer {
void check(const TrainOptions& o) {
  check_at_least("train.steps", o.steps, 0);
  check_at_least("train.batch_tokens", o.batch_tokens, 1);
  check_at_least("train.batch_examples", o.batch_examples, 0);
  check_at_least("train.accumulate", o.accumulate, 1);
  check_not_negative("train.learning_rate", o.learning_rate);
  check_positive("train.logit_learning_rate", o.logit_learning_rate);
  check_fraction("train.beta1", o.beta1);
  check_fraction("train.beta2", o.beta2);
  check_not_negative("train.epsilon", o.epsilon);
  check_not_negative("train.weight_decay", o.weight_decay);
  check_at_least("train.warmup", o.warmup, 0);
  check_not_negative("train.final_learning_rate", o.final_learning_rate);
  check_not_negative("train.clip", o.clip);
  check_fraction("train.label_smoothing", o.label_smoothing);
  check_not_negative("train.ponder_cost", o.ponder_cost);
  check_at_least("train.eval_every", o.eval_every, 1);
  check_at_least("train.save_every", o.save_every, 1);
  check_at_least("train.log_every", o.log_every, 1);
  check_at_least("train.keep", o.keep, 0);
  check_at_least("train.patience", o.patience, 0);
  check_between("train.threads", o.threads, 0, kMaxThreads);
}

}  // namespace synthesizer
