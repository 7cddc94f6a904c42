#pragma once

#include "attention/declared_module.h"
#include "model/options.h"

namespace synthesizer {

/// LayerNorm or RMSNorm (which has no bias) over the width.
class Norm : public DeclaredModule {
 public:
  Norm(NormKind kind, int64_t width, bool bias);
  at::Tensor forward(const at::Tensor& x) const;

 private:
  bool rms_;
  at::Tensor weight_, bias_;
};

}  // namespace synthesizer
