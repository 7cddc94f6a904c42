// What the vector code of tiles shares. Included once for each instruction set, hence the unusual guard.

#include "attention/kernel/tile.h"

#if defined(SYNTHESIZER_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SYNTHESIZER_TILE_INL_H_
#undef SYNTHESIZER_TILE_INL_H_
#else
#define SYNTHESIZER_TILE_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace synthesizer::kernel {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using U = hn::RebindToUnsigned<D>;
using V = hn::Vec<D>;

HWY_INLINE int64_t lanes() {
  return static_cast<int64_t>(hn::Lanes(D()));
}

/// Calls body(vector index) for whole vectors and tail(index) for what is left.
template <class Body, class Tail>
HWY_INLINE void for_each(int64_t n, const Body& body, const Tail& tail) {
  const int64_t step = lanes();
  int64_t j = 0;
  for (; j + step <= n; j += step) body(j);
  for (; j < n; ++j) tail(j);
}

HWY_INLINE void clear(float* x, int64_t begin, int64_t end) {
  for (int64_t j = begin; j < end; ++j) x[j] = 0;
}

HWY_INLINE void scale_row(float* x, int64_t n, float factor) {
  const D d;
  const V v = hn::Set(d, factor);
  for_each(
      n, [&](int64_t j) { hn::StoreU(hn::Mul(v, hn::LoadU(d, x + j)), d, x + j); },
      [&](int64_t j) { x[j] *= factor; });
}

}  // namespace HWY_NAMESPACE
}  // namespace synthesizer::kernel
HWY_AFTER_NAMESPACE();

#endif  // SYNTHESIZER_TILE_INL_H_
