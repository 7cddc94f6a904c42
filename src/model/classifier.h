#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "model/embedding.h"
#include "model/linear.h"
#include "model/stack.h"

namespace synthesizer {

/// An encoder over a text and one vector for the whole of it: the mean of its outputs, or that of its first
/// token, through a linear map and tanh where the pooling is first-tanh. A table with one row per class turns
/// it into logits.
class Classifier : public torch::nn::Module {
 public:
  Classifier(const ModelOptions& options, int64_t vocabulary, int64_t classes);

  /// tokens B×L to one vector per text, B×D.
  at::Tensor forward(const at::Tensor& tokens, const at::Tensor& lengths = {});
  at::Tensor logits(const at::Tensor& pooled) const { return classes_->forward(pooled); }  ///< B×D to B×C
  /// C×D: the trained tensor, or its numbers where it is quantized. For losses.
  at::Tensor classes() const { return plain_matrix(classes_->weight(), classes_->form()); }
  at::Tensor class_bias() const { return classes_->bias(); }  ///< C, or undefined

 private:
  bool mean_;
  double dropout_;
  std::shared_ptr<Embedding> embedding_;
  std::shared_ptr<Stack> encoder_;
  std::shared_ptr<Linear> classes_, pooler_;  ///< the pooler null where there is none
};

}  // namespace synthesizer
