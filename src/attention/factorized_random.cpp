#include "attention/factorized_random.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "attention/heads.h"
#include "attention/random.h"

namespace synthesizer {

FactorizedRandom::FactorizedRandom(const AttentionOptions& options)
    : heads_(options.heads),
      max_length_(options.max_length),
      rank_(options.options.integer("rank", 8)),
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

Logits FactorizedRandom::logits(const Weights& weights, const at::Tensor&, const RowRange& range) const {
  auto left = narrowed(weights["left"], 1, range.begin, range.rows);  // H×L×k
  auto right = narrowed(weights["right"], 1, 0, range.columns);       // H×M×k
  Logits logits;
  if (range.rows == 1) {                                     // as large as its factors
    logits.table = at::matmul(left, right.transpose(1, 2));  // H×1×M
  } else {
    logits.row = left;
    logits.column = right;
  }
  return logits;
}

}  // namespace synthesizer
