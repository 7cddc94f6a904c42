#pragma once

#include "model/embedding.h"
#include "model/output.h"
#include "model/stack.h"
#include "model/step_model.h"

namespace synthesizer {

/// Decoding with the parts of a model that are asked at every step.
class DecoderSteps : public StepModel {
 public:
  DecoderSteps(const Embedding& embedding, Stack& decoder, const Output& output, StackState state,
               int64_t rows)
      : embedding_(&embedding), decoder_(&decoder), output_(&output), state_(std::move(state)), rows_(rows) {}

  int64_t rows() const override { return rows_; }
  int64_t max_length() const override;
  at::Tensor step(const at::Tensor& tokens) override;
  void reorder(const at::Tensor& indices) override;

 private:
  const Embedding* embedding_;
  Stack* decoder_;
  const Output* output_;
  StackState state_;
  int64_t rows_;
};

}  // namespace synthesizer
