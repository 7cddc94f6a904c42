#pragma once

#include "attention/declared_module.h"
#include "attention/matrix_form.h"
#include "model/options.h"

namespace synthesizer {

/// Tokens to vectors: rows of a table, by default times √width, so that a table whose entries are small
/// enough to serve as the output projection gives vectors of unit variance.
class Embedding : public DeclaredModule {
 public:
  Embedding(const ModelOptions& options, int64_t vocabulary);
  at::Tensor forward(const at::Tensor& tokens) const;  ///< … to …×D

  const at::Tensor& weight() const { return weight_; }  ///< V×D
  MatrixFormPtr& form() { return form_; }  ///< what stands for the weight at inference; see prepare.h

 private:
  double scale_;
  at::Tensor weight_;
  MatrixFormPtr form_;
};

}  // namespace synthesizer
