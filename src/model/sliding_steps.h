#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "model/step_model.h"

namespace synthesizer {

/// Steps without an end: where the model has no more positions it starts anew from the latter half of what
/// each row has seen. What came before is forgotten, as in training on windows.
class SlidingSteps : public StepModel {
 public:
  using Start = std::function<std::unique_ptr<StepModel>(int64_t rows)>;
  SlidingSteps(Start start, int64_t rows);

  int64_t rows() const override { return model_->rows(); }
  int64_t max_length() const override;
  at::Tensor step(const at::Tensor& tokens) override;
  void reorder(const at::Tensor& indices) override;

 private:
  Start start_;
  std::unique_ptr<StepModel> model_;
  std::vector<at::Tensor> seen_;  ///< B each: what the model was fed since it started
};

}  // namespace synthesizer
