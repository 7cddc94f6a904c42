#include "attention/random.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "attention/heads.h"

namespace synthesizer {

OptionInfo init_std_option() {
  return {"init_std", "a number ≥ 0", "standard deviation of the logits at the start (default 1)"};
}

double init_std(const AttentionOptions& options) {
  double value = options.options.real("init_std", 1.0);
  if (!(value >= 0) || !std::isfinite(value)) {
    invalid(fmt::format("option 'init_std' is {}: it must be a number of at least 0", value));
  }
  return value;
}

Random::Random(const AttentionOptions& options, bool trained)
    : heads_(options.heads),
      max_length_(options.max_length),
      init_std_(init_std(options)),
      trained_(trained) {}

std::vector<OptionInfo> Random::options() {
  return {init_std_option()};
}

std::vector<Parameter> Random::parameters() const {
  return {{"table", Role::logits, {heads_, max_length_, max_length_}, Init::normal(init_std_), trained_}};
}

Logits Random::logits(const Weights& weights, const at::Tensor&, const RowRange& range) const {
  Logits logits;
  const auto rows = narrowed(weights["table"], 1, range.begin, range.rows);
  logits.table = narrowed(rows, 2, 0, range.columns);  // H×L×M
  return logits;
}

}  // namespace synthesizer
