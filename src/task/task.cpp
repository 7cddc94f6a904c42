#include "task/task.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/nn/module.h>

#include <algorithm>

#include "metric/perplexity.h"
#include "runtime/interrupt.h"
#include "runtime/workers.h"
#include "task/shared_work.h"
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
  struct Part {
    double nll = 0;
    int64_t tokens = 0, correct = 0;
  };
  std::vector<Part> parts(static_cast<size_t>(data.batches->per_epoch()));
  std::optional<Prefetch> ahead;  // several workers make their batches themselves
  if (workers() == 1) ahead.emplace(*data.batches, rank_of(group_), size_of(group_), 2);
  auto work = [&](size_t n) {
    check_interrupt();
    const LossSum part = loss(ahead ? ahead->next() : data.batches->make(static_cast<int64_t>(n)));
    parts[n] = {part.nll, part.tokens, part.correct};
  };
  auto pack = [&](size_t n) {
    Packer packer;
    packer.add(parts[n]);
    return std::move(packer).bytes();
  };
  share_pieces(group_, parts.size(), work, pack,
               [&](size_t n, const std::string& bytes) { parts[n] = Unpacker(bytes).next<Part>(); });
  // Added up in one order, whoever has computed what: the scores are the same to the last bit.
  Likelihood sum;
  int64_t correct = 0;
  for (const Part& part : parts) {
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
