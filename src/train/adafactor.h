#pragma once

#include "train/optimizer.h"

namespace synthesizer {

/// Adafactor (Shazeer and Stern 2018) as Mesh TensorFlow has it, which the paper used; see make_optimizer.
/// `learning_rate` is relative: T5 uses 0.01 with the inverse square root schedule.
///
/// Second moments are factored over the two largest dimensions of a tensor, into means over either of them,
/// where both are at least kLeastFactoredSize. Everything else has a moment for each entry: vectors, small
/// matrices, tables of short lengths, mixture weights.
class Adafactor : public Optimizer {
 public:
  explicit Adafactor(ParameterGroups parameters);
  void step(double learning_rate, int64_t step, double scale) override;

  static constexpr int64_t kLeastFactoredSize = 128;

 private:
  /// Factored: `row`, the mean over dimension `columns`, and `column`, the mean over dimension `rows`, where
  /// rows < columns. Otherwise `entry`.
  struct Moments {
    at::Tensor row, column, entry;
    int64_t rows = 0, columns = 0;
  };
  at::Tensor update(const at::Tensor& gradient, Moments& moments, double decay) const;

  std::vector<Moments> moments_;
};

}  // namespace synthesizer
