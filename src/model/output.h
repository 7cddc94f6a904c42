#pragma once

#include "attention/declared_module.h"
#include "model/embedding.h"
#include "model/options.h"

namespace synthesizer {

/// From hidden states to the logits of tokens: the embedding's own table where it is tied, or a table of its
/// own. Losses take the table itself (train/loss.h), so that the logits of a whole batch are never formed.
class Output : public DeclaredModule {
 public:
  Output(const ModelOptions& options, int64_t vocabulary, std::shared_ptr<Embedding> tied_to);

  /// V×D: the trained tensor, or its numbers where it is quantized.
  at::Tensor weight() const;
  /// The tensor alone, and what stands for it at inference (prepare.h): the embedding's own where it is tied.
  const at::Tensor& tensor() const { return tied_to_ ? tied_to_->weight() : weight_; }
  const MatrixFormPtr& form() const { return tied_to_ ? tied_to_->form() : form_; }
  MatrixFormPtr& form() { return tied_to_ ? tied_to_->form() : form_; }
  /// V, or undefined: model.output_bias.
  const at::Tensor& bias() const { return bias_; }
  at::Tensor logits(const at::Tensor& hidden) const;  ///< …×D to …×V, float32

 private:
  std::shared_ptr<Embedding> tied_to_;  ///< not registered here: its parameters have one name
  at::Tensor weight_, bias_;
  MatrixFormPtr form_;
};

}  // namespace synthesizer
