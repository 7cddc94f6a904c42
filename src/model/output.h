#pragma once

#include <torch/nn/module.h>

#include "model/embedding.h"
#include "model/options.h"

namespace synthesizer {

/// From hidden states to the logits of tokens: the embedding's own table where it is tied, or a table of its
/// own. Losses take the table itself (train/loss.h), so that the logits of a whole batch are never formed.
class Output : public torch::nn::Module {
 public:
  Output(const ModelOptions& options, int64_t vocabulary, std::shared_ptr<Embedding> tied_to);

  const at::Tensor& weight() const { return tied_to_ ? tied_to_->weight() : weight_; }  ///< V×D
  at::Tensor logits(const at::Tensor& hidden) const;  ///< …×D to …×V, float32

 private:
  std::shared_ptr<Embedding> tied_to_;  ///< not registered here: its parameters have one name
  at::Tensor weight_;
};

}  // namespace synthesizer
