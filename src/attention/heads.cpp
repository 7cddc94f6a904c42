#include "attention/heads.h"

#include <ATen/ATen.h>

namespace synthesizer {

at::Tensor split_heads(const at::Tensor& x, int64_t heads) {
  // Sizes are written out, not inferred: an empty batch has nothing to infer them from.
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

at::Tensor join_heads(const at::Tensor& y) {
  return y.transpose(1, 2).reshape({y.size(0), y.size(2), y.size(1) * y.size(3)});
}

at::Tensor narrowed(const at::Tensor& t, int64_t dimension, int64_t begin, int64_t length) {
  return begin == 0 && length == t.size(dimension) ? t : t.narrow(dimension, begin, length);
}

}  // namespace synthesizer
