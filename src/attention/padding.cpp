#include "attention/padding.h"

#include <ATen/ATen.h>

namespace synthesizer {

at::Tensor without_padding(const at::Tensor& x, const at::Tensor& lengths) {
  if (!lengths.defined()) return x;
  const auto padded = at::arange(x.sym_size(1), lengths.options()).ge(lengths.unsqueeze(1));  // B×L
  return x.masked_fill(padded.unsqueeze(2), 0);
}

}  // namespace synthesizer
