#include "decode/draw.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace synthesizer {
namespace {

bool worse(const Choice& a, const Choice& b) {
  return better(b, a);
}

/// Those with a probability above 0, by their logits; none where a logit is NaN or +infinity.
std::vector<Choice> possible(std::span<const float> logits, int64_t forbidden) {
  std::vector<Choice> choices;
  bool forbidden_possible = false;
  for (size_t n = 0; n < logits.size(); ++n) {
    const auto token = static_cast<int64_t>(n);
    if (std::isnan(logits[n]) || logits[n] == std::numeric_limits<float>::infinity()) return {};
    if (logits[n] == -std::numeric_limits<float>::infinity()) continue;
    if (token == forbidden) {
      forbidden_possible = true;
    } else {
      choices.push_back({token, logits[n]});
    }
  }
  if (choices.empty() && forbidden_possible) choices.push_back({forbidden, logits[forbidden]});
  return choices;
}

/// Leaves the fewest of the likeliest whose sum reaches the share p. A heap, as these are often few of many.
void keep_share(std::vector<Choice>& weights, double p) {
  double total = 0, reached = 0;
  for (const Choice& choice : weights) total += choice.value;
  std::make_heap(weights.begin(), weights.end(), worse);
  auto kept = weights.end();
  do {
    std::pop_heap(weights.begin(), kept, worse);
    reached += (--kept)->value;
  } while (reached < p * total && kept != weights.begin());
  weights.erase(weights.begin(), kept);
}

}  // namespace

std::vector<Choice> sampling_candidates(std::span<const float> logits, const DecodeOptions& options,
                                        int64_t forbidden) {
  auto choices = possible(logits, forbidden);
  if (choices.empty()) return choices;
  const Choice top = *std::min_element(choices.begin(), choices.end(), better);
  if (options.temperature == 0) return {{top.token, 1}};
  if (options.top_k > 0 && static_cast<size_t>(options.top_k) < choices.size()) {
    std::partial_sort(choices.begin(), choices.begin() + options.top_k, choices.end(), better);
    choices.resize(options.top_k);
  }
  for (Choice& choice : choices) choice.value = std::exp((choice.value - top.value) / options.temperature);
  if (options.top_p < 1) keep_share(choices, options.top_p);
  return choices;
}

int64_t draw_token(std::span<const Choice> weights, RandomStream& random) {
  double total = 0;
  for (const Choice& choice : weights) total += choice.value;
  const double target = random.uniform() * total;
  size_t n = 0;
  for (double sum = weights[0].value; sum <= target && n + 1 < weights.size(); sum += weights[n].value) ++n;
  return weights[n].token;
}

}  // namespace synthesizer
