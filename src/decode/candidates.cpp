#include "decode/candidates.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "decode/batch.h"

namespace synthesizer {
namespace {

/// topk says nothing of which it takes where several equal the last one: those above it stay, and of the
/// equal ones come the lowest ids.
void settle_tie(std::vector<Choice>& best, const at::Tensor& row, float tied) {
  const size_t wanted = best.size();
  std::erase_if(best, [&](const Choice& choice) { return choice.value == tied; });
  for (int64_t token : wholes((row == tied).nonzero().flatten())) {  // ascending
    if (best.size() == wanted) break;
    best.push_back({token, tied});
  }
}

}  // namespace

void not_a_number(int64_t row) {
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

std::vector<std::vector<Choice>> best_tokens(const at::Tensor& log_probabilities, int64_t k) {
  const int64_t rows = log_probabilities.size(0), vocabulary = log_probabilities.size(1);  // B×V
  const int64_t kept = std::min(k, vocabulary);
  const int64_t asked = std::min(k + 1, vocabulary);  // one more shows whether the last one kept is tied
  const auto [values, tokens] = log_probabilities.topk(asked, 1);  // B×(k+1); NaN comes before any number
  const auto value = floats(values);
  const auto token = wholes(tokens);

  std::vector<std::vector<Choice>> best(rows);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t first = row * asked, last = first + kept - 1;
    if (std::isnan(value[first])) not_a_number(row);
    for (int64_t n = first; n <= last; ++n) best[row].push_back({token[n], value[n]});
    if (asked > kept && value[last] == value[last + 1]) {
      settle_tie(best[row], log_probabilities[row], value[last]);
    }
    std::erase_if(best[row], [](const Choice& choice) {
      return choice.value == -std::numeric_limits<double>::infinity();
    });
    std::sort(best[row].begin(), best[row].end(), better);
  }
  return best;
}

}  // namespace synthesizer
