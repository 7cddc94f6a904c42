#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "model/embedding.h"
#include "model/output.h"
#include "model/slot_steps.h"
#include "model/stack.h"
#include "model/step_model.h"

namespace synthesizer {

/// A decoder alone: each token from those before it.
class LanguageModel : public torch::nn::Module {
 public:
  LanguageModel(const ModelOptions& options, int64_t vocabulary);

  /// tokens B×L to hidden states B×L×D; row i has seen tokens 0 … i.
  at::Tensor forward(const at::Tensor& tokens, const at::Tensor& lengths = {});
  const Output& output() const { return *output_; }
  const Stack& decoder() const { return *decoder_; }

  /// Step by step. The model must outlive it.
  std::unique_ptr<StepModel> start(int64_t rows);
  std::unique_ptr<SlotSteps> start_slots(int64_t slots) const;

 private:
  std::shared_ptr<Embedding> embedding_;
  std::shared_ptr<Stack> decoder_;
  std::shared_ptr<Output> output_;
};

}  // namespace synthesizer
