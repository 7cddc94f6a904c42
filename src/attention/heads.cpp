#include "attention/heads.h"

#include <ATen/ATen.h>

namespace synthesizer {

at::Tensor split_heads(const at::Tensor& x, int64_t heads) {
  // Sizes are written out, not inferred: an empty batch has nothing to infer them from.
  return x.view_symint({x.sym_size(0), x.sym_size(1), heads, x.sym_size(2) / heads}).transpose(1, 2);
}

at::Tensor split_heads(const at::Tensor& x, int64_t heads, const PackedRows* packed) {
  return split_heads(packed ? packed->unpack(x) : x, heads);
}

at::Tensor join_heads(const at::Tensor& y) {
  return y.transpose(1, 2).reshape_symint({y.sym_size(0), y.sym_size(2), y.sym_size(1) * y.sym_size(3)});
}

at::Tensor narrowed(const at::Tensor& t, int64_t dimension, const c10::SymInt& begin,
                    const c10::SymInt& length) {
  if (length.is_symbolic()) {
    // A copy: whether a narrowed tensor is contiguous depends on the length, and a program that was traced
    // for it would be for other lengths than the whole alone.
    return t.index_select(dimension, at::arange(begin, begin + length, t.options().dtype(at::kLong)));
  }
  const bool all = begin == 0 && length == t.sym_size(dimension);
  return all ? t : t.narrow_symint(dimension, begin, length);
}

}  // namespace synthesizer
