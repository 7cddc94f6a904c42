#pragma once

#include "train/optimizer.h"

namespace synthesizer {

/// See make_optimizer. `learning_rate` is relative: T5 uses 0.01 with the inverse square root schedule.
class Adafactor : public Optimizer {
 public:
  explicit Adafactor(ParameterGroups parameters);
  void step(double learning_rate, int64_t step, double scale) override;
  NamedTensors state() const override;

 private:
  /// Second moments: of rows and of columns for a matrix (the last two sizes of a tensor), of each entry
  /// otherwise.
  struct Moments {
    at::Tensor row, column, entry;
  };
  at::Tensor update(const at::Tensor& gradient, Moments& moments, double decay) const;

  std::vector<Moments> moments_;
};

}  // namespace synthesizer
