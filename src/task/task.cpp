#include "task/task.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/nn/module.h>

#include "metric/perplexity.h"
#include "text/prefetch.h"

namespace synthesizer {

Scores Task::likelihood(const Dataset& data) {
  c10::NoGradGuard no_grad;
  model().eval();
  Likelihood sum;
  int64_t correct = 0;
  const int64_t batches = data.batches->per_epoch();
  Prefetch ahead(*data.batches, 0, 1, 2);
  for (int64_t n = 0; n < batches; ++n) {
    const LossSum part = loss(ahead.next());
    sum.nll += part.nll;
    sum.tokens += part.tokens;
    correct += part.correct;
  }
  sum.words = data.words;
  sum.characters = data.characters;
  return {{"loss", sum.loss()},
          {"perplexity", sum.perplexity()},
          {"word_perplexity", sum.word_perplexity()},
          {"bits_per_character", sum.bits_per_character()},
          {"accuracy", static_cast<double>(correct) / static_cast<double>(sum.tokens) * 100},
          {"tokens", static_cast<double>(sum.tokens)}};
}

}  // namespace synthesizer
