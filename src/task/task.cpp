#include "task/task.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/nn/module.h>

#include <algorithm>

#include "metric/perplexity.h"
#include "text/prefetch.h"

namespace synthesizer {

int64_t Dataset::lines() const {
  int64_t sum = 0;
  for (const auto& store : stores) sum += store->size();
  return sum;
}

bool Dataset::reused() const {
  return std::all_of(stores.begin(), stores.end(), [](const auto& store) { return store->reused(); });
}

void Task::expect_inference() {
  if (model().is_training())
    throw std::logic_error("a task in training is evaluated through prepared_copy()");
}

Scores Task::likelihood(const Dataset& data) {
  c10::NoGradGuard no_grad;
  expect_inference();
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
  Scores scores = {{"loss", sum.loss()}, {"perplexity", sum.perplexity()}};
  if (sum.words > 0) {
    scores.emplace_back("word_perplexity", sum.word_perplexity());
    scores.emplace_back("bits_per_character", sum.bits_per_character());
  }
  scores.emplace_back("accuracy", static_cast<double>(correct) / static_cast<double>(sum.tokens) * 100);
  scores.emplace_back("tokens", static_cast<double>(sum.tokens));
  return scores;
}

}  // namespace synthesizer
