#include "model/decoder_steps.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace synthesizer {

int64_t DecoderSteps::max_length() const {
  return decoder_->layers().front()->attention()->options().max_length;
}

at::Tensor DecoderSteps::step(const at::Tensor& tokens) {
  c10::NoGradGuard no_grad;
  return output_->logits(decoder_->step(embedding_->forward(tokens), state_));
}

void DecoderSteps::reorder(const at::Tensor& indices) {
  state_.reorder(indices);
  rows_ = indices.size(0);
}

}  // namespace synthesizer
