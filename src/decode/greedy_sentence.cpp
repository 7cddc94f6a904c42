#include "decode/greedy_sentence.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <limits>

#include "decode/candidates.h"
#include "decode/repeats.h"
#include "decode/tensor_access.h"

namespace synthesizer {
namespace {
constexpr float kImpossible = -std::numeric_limits<float>::infinity();
}

void GreedySentence::advance(int64_t token, float value, int64_t end, float end_value) {
  const auto length = static_cast<int64_t>(tokens_.size());
  // The end is also forced, even below the minimum, where no other token is possible.
  if (length == limit_ || token == end || value == kImpossible) {
    result_ = finished_hypothesis(tokens_, sum_ + end_value, length < limit_, options_);
    done_ = true;
    return;
  }
  tokens_.push_back(token);
  sum_ += value;
  next_ = token;
  if (!options_.forced_end && length + 1 == limit_) {
    result_ = cut_hypothesis(tokens_, sum_, options_);
    done_ = true;
  }
}

void advance_greedily(const at::Tensor& logits, int64_t end, int64_t forbidden,
                      std::span<GreedySentence* const> sentences) {
  c10::NoGradGuard no_grad;
  const auto log_probability = log_probabilities(logits, end);  // B×V
  forbid(log_probability, forbidden);
  const auto ends = float_values(log_probability.select(1, end));
  for (size_t row = 0; row < sentences.size(); ++row) {
    const GreedySentence& sentence = *sentences[row];
    const auto own = log_probability.narrow(0, static_cast<int64_t>(row), 1);
    if (sentence.options().no_repeat_ngram > 0)
      forbid_repeats(own, {&sentence.tokens()}, sentence.options().no_repeat_ngram);
    if (static_cast<int64_t>(sentence.tokens().size()) < sentence.options().min_length)
      own.select(1, end).fill_(kImpossible);
  }
  const auto [values, indices] = log_probability.max(1);  // B, the first of equal ones
  const auto value = float_values(values);
  const auto token = integer_values(indices);
  for (size_t row = 0; row < sentences.size(); ++row) {
    if (std::isnan(value[row]) || std::isnan(ends[row])) throw_not_finite(static_cast<int64_t>(row));
    sentences[row]->advance(token[row], value[row], end, ends[row]);
  }
}

}  // namespace synthesizer
