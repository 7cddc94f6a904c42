#include "decode/candidates.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace synthesizer {
namespace {

constexpr int64_t kBlock = 32;

/// Whether anything in a block is above `least`, or not a number. Written so that compilers make vectors of
/// it: nearly every block of a vocabulary is passed over here.
bool any_above(const float* values, float least) {
  int above = 0;
  for (int64_t n = 0; n < kBlock; ++n) above |= static_cast<int>(!(values[n] <= least));
  return above != 0;
}

/// The best of one row, best first. Going through the tokens in their order, one that is equal to the last
/// of those kept so far comes after it.
class Best {
 public:
  explicit Best(int64_t k) : k_(static_cast<size_t>(k)) {}

  float least() const { return kept_.size() < k_ ? kImpossible : static_cast<float>(kept_.back().value); }
  /// False: the value is not a number.
  bool offer(int64_t token, float value) {
    if (std::isnan(value)) return false;
    if (value <= least()) return true;
    const Choice choice{token, value};
    if (kept_.size() == k_) kept_.pop_back();
    kept_.insert(std::upper_bound(kept_.begin(), kept_.end(), choice, better), choice);
    return true;
  }
  std::vector<Choice> take() { return std::move(kept_); }

 private:
  static constexpr float kImpossible = -std::numeric_limits<float>::infinity();
  size_t k_;
  std::vector<Choice> kept_;
};

}  // namespace

void throw_not_finite(int64_t row) {
  throw std::runtime_error(fmt::format(
      "the model's output is not a number (row {} of the batch): its weights have diverged or are damaged",
      row));
}

at::Tensor log_probabilities(const at::Tensor& logits, int64_t end) {
  if (end < 0 || end >= logits.size(1)) {
    invalid(fmt::format("the end token is {}: the model knows tokens 0 to {}", end, logits.size(1) - 1));
  }
  return at::log_softmax(logits.detach(), 1, at::kFloat);
}

void forbid(const at::Tensor& log_probabilities, int64_t token) {
  if (token >= 0) log_probabilities.select(1, token).fill_(-std::numeric_limits<float>::infinity());
}

void renormalize(const at::Tensor& log_probabilities, int64_t left_out) {
  at::Tensor counted = log_probabilities;
  if (left_out >= 0) {
    counted = log_probabilities.clone();
    forbid(counted, left_out);
  }
  const auto sum = counted.logsumexp(1, /*keepdim=*/true);  // B×1
  log_probabilities.sub_(at::where(at::isinf(sum), at::zeros_like(sum), sum));
}

std::vector<std::vector<Choice>> best_tokens(const at::Tensor& log_probabilities, int64_t k) {
  const auto plain = log_probabilities.contiguous();
  const int64_t rows = plain.size(0), vocabulary = plain.size(1);  // B×V
  std::vector<std::vector<Choice>> best(static_cast<size_t>(rows));
  std::vector<char> bad(static_cast<size_t>(rows), 0);  // not of bool: threads write side by side
  at::parallel_for(0, rows, 1, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const float* values = plain.const_data_ptr<float>() + row * vocabulary;
      Best kept(k);
      for (int64_t begin = 0; begin < vocabulary; begin += kBlock) {
        const int64_t end = std::min(begin + kBlock, vocabulary);
        if (end - begin == kBlock && !any_above(values + begin, kept.least())) continue;
        for (int64_t token = begin; token < end; ++token) {
          if (!kept.offer(token, values[token])) bad[static_cast<size_t>(row)] = 1;
        }
      }
      best[static_cast<size_t>(row)] = kept.take();
    }
  });
  const auto first_bad = std::find(bad.begin(), bad.end(), 1);
  if (first_bad != bad.end()) throw_not_finite(first_bad - bad.begin());
  return best;
}

}  // namespace synthesizer
