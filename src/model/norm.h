#pragma once

#include "attention/declared_module.h"
#include "model/options.h"

namespace synthesizer {

/// LayerNorm or RMSNorm (which has no bias) over the width.
class Norm : public DeclaredModule {
 public:
  explicit Norm(const ModelOptions& options);
  at::Tensor forward(const at::Tensor& x) const;

 private:
  bool rms_;
  double epsilon_;
  at::Tensor weight_, bias_;
};

}  // namespace synthesizer
