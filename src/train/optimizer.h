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

  /// "PARAMETER.first" and the like, of all parameters; the tensors themselves, not copies. Of a divided
  /// optimizer only names and shapes: its values are spread over processes (sharded_optimizer.h).
  const NamedTensors& state() const { return state_; }
  virtual bool divided() const { return false; }
  /// The values of entry i of the state. Divided: every process calls it, for one entry after another; rank 0
  /// gets the values, the others an undefined tensor.
  virtual at::Tensor fetch(size_t i) const { return state_[i].tensor; }
  /// Sets entry i. Divided: every process calls it, for one entry after another; the values are rank 0's.
  virtual void put(size_t i, const at::Tensor& values);

  const std::vector<ParameterGroup>& groups() const { return trained_.groups; }

 protected:
  ParameterGroups trained_;
  NamedTensors state_;  ///< in the order of the parameters; filled by the constructor of each kind
};

/// Adam and AdamW are LibTorch's fused ones; Adafactor (adafactor.h) keeps a row and a column of second
/// moments for each large matrix, bounds an update's size by 1 and scales it by the parameter's own.
std::unique_ptr<Optimizer> make_optimizer(const TrainOptions& options, ParameterGroups parameters);

}  // namespace synthesizer
