#include "attention/factorized_random.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "attention/random.h"

namespace synthesizer {

FactorizedRandom::FactorizedRandom(const AttentionOptions& options)
    : heads_(options.heads),
      max_length_(options.max_length),
      rank_(options.options.whole("rank", 8)),
      init_std_(init_std(options)) {
  if (rank_ < 1) invalid(fmt::format("option 'rank' is {}: it must be at least 1", rank_));
}

std::vector<OptionInfo> FactorizedRandom::options() {
  return {{"rank", "a whole number ≥ 1", "inner width k of the two factors (default 8)"}, init_std_option()};
}

std::vector<Parameter> FactorizedRandom::parameters() const {
  double std = std::pow(static_cast<double>(rank_), -0.25) * std::sqrt(init_std_);
  return {{"left", Role::logits, {heads_, max_length_, rank_}, Init::normal(std)},
          {"right", Role::logits, {heads_, max_length_, rank_}, Init::normal(std)}};
}

Logits FactorizedRandom::logits(const Weights& weights, const at::Tensor&, const Window& window) const {
  auto left = weights["left"].narrow(1, window.begin, window.rows);  // H×L×k
  auto right = weights["right"].narrow(1, 0, window.columns);        // H×M×k
  Logits logits;
  logits.table = at::matmul(left, right.transpose(1, 2));  // H×L×M
  return logits;
}

}  // namespace synthesizer
