#pragma once

#include <string>

#include "attention/declared_module.h"

namespace synthesizer {

/// LayerNorm ("layer") or RMSNorm ("rms", which has no bias) over the width.
class Norm : public DeclaredModule {
 public:
  Norm(const std::string& kind, int64_t width, bool bias);
  at::Tensor forward(const at::Tensor& x) const;

 private:
  bool rms_;
  at::Tensor weight_, bias_;
};

}  // namespace synthesizer
