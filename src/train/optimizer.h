#pragma once

#include <memory>
#include <vector>

#include "train/named_tensors.h"
#include "train/options.h"
#include "train/parameter_groups.h"

namespace synthesizer {

/// Changes parameters by their gradients. Its state has names, so that it can be saved and taken up again.
class Optimizer {
 public:
  explicit Optimizer(ParameterGroups parameters) : trained_(std::move(parameters)) {}
  virtual ~Optimizer() = default;
  /// One step, counted from 1. Parameters without a gradient stay as they are. Gradients count `scale` times
  /// what they are: multiplied where they are read, which saves a pass over all of them. `learning_rate` is
  /// multiplied by the factor of each parameter's group.
  virtual void step(double learning_rate, int64_t step, double scale = 1) = 0;
  /// "PARAMETER.first" and the like; the tensors themselves, not copies.
  virtual NamedTensors state() const = 0;

  const std::vector<ParameterGroup>& groups() const { return trained_.groups; }

 protected:
  ParameterGroups trained_;
};

/// Adam and AdamW are LibTorch's fused ones; Adafactor (Shazeer and Stern 2018) keeps a row and a column of
/// second moments for each matrix, bounds an update's size by 1 and scales it by the parameter's own.
std::unique_ptr<Optimizer> make_optimizer(const TrainOptions& options, ParameterGroups parameters);

}  // namespace synthesizer
