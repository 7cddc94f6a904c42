// Softmax and dropout on a tile, forward and backward, and sums and multiples of its rows.

#include "attention/kernel/tile.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/kernel/random_bits.h"

// Highway compiles the rest of this file once for each instruction set, in namespaces of their own.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernel/tile_softmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// must come after highway.h
#include "attention/kernel/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace synthesizer::kernel {
namespace HWY_NAMESPACE {

/// The largest entry; which of them where one is NaN, instruction sets disagree about.
HWY_INLINE float row_max(const float* x, int64_t n) {
  const D d;
  const float lowest = -std::numeric_limits<float>::infinity();
  V m0 = hn::Set(d, lowest), m1 = m0;
  const int64_t step = lanes();
  int64_t j = 0;
  for (; j + 2 * step <= n; j += 2 * step) {
    m0 = hn::Max(m0, hn::LoadU(d, x + j));
    m1 = hn::Max(m1, hn::LoadU(d, x + j + step));
  }
  float m = hn::GetLane(hn::MaxOfLanes(d, hn::Max(m0, m1)));
  for (; j < n; ++j) m = x[j] > m ? x[j] : m;
  return m;
}

/// exp(x) for x that is at most 0 (or a little more by rounding), within 1.2 units in the last place; exp(0)
/// is 1. Half the instructions of Highway's, which takes any x. NaN may give 0.
HWY_INLINE V exp_below_zero(V x) {
  const D d;
  const hn::RebindToSigned<D> i;
  // A sum of this size has its last bits at 1: they are n + 30, n being the multiple of log 2 nearest to x.
  const V magic = hn::Set(d, 0x1.8p23f + 30);
  x = hn::Max(x, hn::Set(d, -105.0f));  // which gives 0 already
  const V sum = hn::MulAdd(x, hn::Set(d, 0x1.715476p0f), magic), n = hn::Sub(sum, magic);
  // What is left of x, at most half of log 2. The first part of log 2 has few bits: its product is exact.
  const V r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x));
  V y = hn::MulAdd(r, hn::Set(d, 0.00138145f), hn::Set(d, 0.00836878f));  // minimax; error below 4e-9
  y = hn::MulAdd(r, y, hn::Set(d, 0.04166839f));
  y = hn::MulAdd(r, y, hn::Set(d, 0.1666652f));
  y = hn::MulAdd(r, y, hn::Set(d, 0.49999993f));
  y = hn::MulAdd(hn::Mul(r, r), y, r);
  y = hn::Add(y, hn::Set(d, 1.0f));
  // 2^(n + 30) into its exponent, which is in the range of a float for all these n; the product with 2^-30
  // rounds results that are too small for one.
  y = hn::BitCast(d, hn::Add(hn::BitCast(i, y), hn::ShiftLeft<23>(hn::BitCast(i, sum))));
  return hn::Mul(y, hn::Set(d, 0x1p-30f));
}

/// x = exp(x - shift), and the sum of it: NaN where an entry, or infinity - infinity, is NaN. The exp above
/// may give 0 there, so the sum of the arguments is what tells: it is NaN then, and otherwise at most 0 or
/// -infinity.
HWY_INLINE float exp_row(float* x, int64_t n, float shift) {
  const D d;
  const V vshift = hn::Set(d, shift);
  const int64_t step = lanes();
  V s0 = hn::Zero(d), s1 = hn::Zero(d), arguments = hn::Zero(d);
  int64_t j = 0;
  for (; j + 2 * step <= n; j += 2 * step) {
    const V x0 = hn::Sub(hn::LoadU(d, x + j), vshift), x1 = hn::Sub(hn::LoadU(d, x + j + step), vshift);
    const V e0 = exp_below_zero(x0), e1 = exp_below_zero(x1);
    hn::StoreU(e0, d, x + j);
    hn::StoreU(e1, d, x + j + step);
    s0 = hn::Add(s0, e0);
    s1 = hn::Add(s1, e1);
    arguments = hn::Add(arguments, hn::Add(x0, x1));
  }
  for (; j < n; j += step) {  // the last ones through a padded vector: the same exp for all
    const int64_t left = n - j < step ? n - j : step;
    HWY_ALIGN float part[HWY_MAX_BYTES / sizeof(float)] = {};
    for (int64_t i = 0; i < left; ++i) part[i] = x[j + i];
    const auto inside = hn::FirstN(d, static_cast<size_t>(left));
    const V shifted = hn::IfThenElseZero(inside, hn::Sub(hn::Load(d, part), vshift));
    const V kept = hn::IfThenElseZero(inside, exp_below_zero(shifted));
    hn::Store(kept, d, part);
    for (int64_t i = 0; i < left; ++i) x[j + i] = part[i];
    s0 = hn::Add(s0, kept);
    arguments = hn::Add(arguments, shifted);
  }
  if (std::isnan(hn::GetLane(hn::SumOfLanes(d, arguments)))) return std::numeric_limits<float>::quiet_NaN();
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
}

void Softmax(const Tile& s, const Visible& visible, float* max, float* sum, float* rescale) {
  for (int64_t r = 0; r < s.rows; ++r) {
    const int64_t n = visible.of(s, r);
    float* row = s[r];
    rescale[r] = 1;
    if (n > 0) {
      const float top = row_max(row, n);
      if (top > max[r]) {
        rescale[r] = std::exp(max[r] - top);
        max[r] = top;
      }
      // Nothing but -infinity so far: weights of 0, whatever the shift.
      const bool nothing = max[r] == -std::numeric_limits<float>::infinity();
      sum[r] = sum[r] * rescale[r] + exp_row(row, n, nothing ? 0 : max[r]);
    }
    clear(row, n, s.columns);
  }
}

void SoftmaxRows(const Tile& s, const Visible& visible) {
  for (int64_t r = 0; r < s.rows; ++r) {
    const int64_t n = visible.of(s, r);
    if (n > 0) scale_row(s[r], n, 1 / exp_row(s[r], n, row_max(s[r], n)));
    clear(s[r], n, s.columns);
  }
}

/// The factor of each entry of a row: `scale` or 0.
HWY_INLINE V keep_factor(hn::Vec<U> columns, uint64_t key, const DropoutMask& drop) {
  const D d;
  const U u;
  auto x = hn::Add(hn::Mul(columns, hn::Set(u, kStride)), hn::Set(u, static_cast<uint32_t>(key)));
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<16>(x)), hn::Set(u, kMix1));
  x = hn::Add(hn::Xor(x, hn::ShiftRight<15>(x)), hn::Set(u, static_cast<uint32_t>(key >> 32)));
  x = hn::Mul(x, hn::Set(u, kMix2));
  x = hn::Xor(x, hn::ShiftRight<16>(x));
  // Unsigned x >= threshold; no vector set compares unsigned directly, max does.
  const auto kept = hn::Eq(hn::Max(x, hn::Set(u, drop.threshold)), x);
  return hn::IfThenElseZero(hn::RebindMask(d, kept), hn::Set(d, drop.scale));
}

HWY_INLINE float keep_factor(int64_t column, uint64_t key, const DropoutMask& drop) {
  return random_bits(key, static_cast<uint32_t>(column)) >= drop.threshold ? drop.scale : 0.0f;
}

void DropTile(const Tile& p, const DropoutMask& drop) {
  const D d;
  for (int64_t r = 0; r < p.rows; ++r) {
    const uint64_t key = row_key(drop.seed, drop.matrix, p.row + r);
    float* x = p[r];
    for_each(
        p.columns,
        [&](int64_t j) {
          const V f = keep_factor(hn::Iota(U(), static_cast<uint32_t>(p.column + j)), key, drop);
          hn::StoreU(hn::Mul(f, hn::LoadU(d, x + j)), d, x + j);
        },
        [&](int64_t j) { x[j] *= keep_factor(p.column + j, key, drop); });
  }
}

void SoftmaxBackward(const Tile& s, const Tile& g, const Visible& visible, const float* lse,
                     const float* delta, const DropoutMask& drop) {
  const D d;
  for (int64_t r = 0; r < s.rows; ++r) {
    const int64_t n = visible.of(s, r);
    float *p = s[r], *gradient = g[r];
    if (std::isnan(lse[r])) {  // all its weights, as of PyTorch's softmax, those behind a causal mask too
      std::fill_n(p, s.columns, lse[r]);
    } else {
      exp_row(p, n, n > 0 ? lse[r] : 0);
      clear(p, n, s.columns);
    }
    const V vdelta = hn::Set(d, delta[r]);
    if (drop.threshold == 0) {
      for_each(
          n,
          [&](int64_t j) {
            const V shifted = hn::Sub(hn::LoadU(d, gradient + j), vdelta);
            hn::StoreU(hn::Mul(hn::LoadU(d, p + j), shifted), d, gradient + j);
          },
          [&](int64_t j) { gradient[j] = p[j] * (gradient[j] - delta[r]); });
    } else {
      const uint64_t key = row_key(drop.seed, drop.matrix, s.row + r);
      for_each(
          n,
          [&](int64_t j) {
            const V f = keep_factor(hn::Iota(U(), static_cast<uint32_t>(s.column + j)), key, drop);
            const V weight = hn::LoadU(d, p + j);
            const V shifted = hn::MulSub(hn::LoadU(d, gradient + j), f, vdelta);
            hn::StoreU(hn::Mul(weight, shifted), d, gradient + j);
            hn::StoreU(hn::Mul(weight, f), d, p + j);
          },
          [&](int64_t j) {
            const float f = keep_factor(s.column + j, key, drop);
            gradient[j] = p[j] * (gradient[j] * f - delta[r]);
            p[j] *= f;
          });
    }
    clear(gradient, n, g.columns);
  }
}

void WeightsBackward(const Tile& p, const Tile& g, const Visible& visible, const float* shift,
                     int64_t shift_stride, const DropoutMask& drop) {
  const D d;
  for (int64_t r = 0; r < p.rows; ++r) {
    const int64_t n = visible.of(p, r);
    const float* weight = p[r];
    const float* down = shift + (shift_stride == 0 ? r : r * shift_stride);
    float* gradient = g[r];
    const V same = hn::Set(d, down[0]);
    const uint64_t key = row_key(drop.seed, drop.matrix, p.row + r);
    for_each(
        n,
        [&](int64_t j) {
          V x = hn::LoadU(d, gradient + j);
          if (drop.threshold != 0) {
            x = hn::Mul(x, keep_factor(hn::Iota(U(), static_cast<uint32_t>(p.column + j)), key, drop));
          }
          const V by = shift_stride == 0 ? same : hn::LoadU(d, down + j);
          hn::StoreU(hn::Mul(hn::LoadU(d, weight + j), hn::Sub(x, by)), d, gradient + j);
        },
        [&](int64_t j) {
          const float f = drop.threshold == 0 ? 1.0f : keep_factor(p.column + j, key, drop);
          gradient[j] = weight[j] * (gradient[j] * f - down[shift_stride == 0 ? 0 : j]);
        });
    clear(gradient, n, g.columns);
  }
}

bool AllFinite(const Matrix& m) {
  const D d;
  V zeros = hn::Zero(d);  // 0 · x is 0 for a finite x alone
  float rest = 0;
  const Matrix rows = m.column_stride == 1 ? m : m.transposed();
  for (int64_t r = 0; r < rows.rows; ++r) {
    const float* x = rows.data + r * rows.row_stride;
    for_each(
        rows.columns, [&](int64_t j) { zeros = hn::MulAdd(hn::Zero(d), hn::LoadU(d, x + j), zeros); },
        [&](int64_t j) { rest += 0 * x[j]; });
  }
  return hn::GetLane(hn::SumOfLanes(d, zeros)) + rest == 0;
}

void ScaleRows(float* data, int64_t stride, int64_t rows, int64_t columns, const float* factor) {
  for (int64_t r = 0; r < rows; ++r) scale_row(data + r * stride, columns, factor[r]);
}

void RowProducts(const float* a, int64_t a_stride, const float* b, int64_t b_stride, int64_t rows,
                 int64_t columns, float* sum) {
  const D d;
  for (int64_t r = 0; r < rows; ++r) {
    const float *x = a + r * a_stride, *y = b + r * b_stride;
    V products = hn::Zero(d);
    float rest = 0;
    for_each(
        columns,
        [&](int64_t j) { products = hn::MulAdd(hn::LoadU(d, x + j), hn::LoadU(d, y + j), products); },
        [&](int64_t j) { rest += x[j] * y[j]; });
    sum[r] = hn::GetLane(hn::SumOfLanes(d, products)) + rest;
  }
}

const char* Target() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace HWY_NAMESPACE
}  // namespace synthesizer::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace synthesizer::kernel {

HWY_EXPORT(Softmax);
HWY_EXPORT(SoftmaxRows);
HWY_EXPORT(DropTile);
HWY_EXPORT(SoftmaxBackward);
HWY_EXPORT(WeightsBackward);
HWY_EXPORT(AllFinite);
HWY_EXPORT(ScaleRows);
HWY_EXPORT(RowProducts);
HWY_EXPORT(Target);

void softmax(const Tile& s, const Visible& visible, float* max, float* sum, float* rescale) {
  HWY_DYNAMIC_DISPATCH(Softmax)(s, visible, max, sum, rescale);
}
void softmax_rows(const Tile& s, const Visible& visible) {
  HWY_DYNAMIC_DISPATCH(SoftmaxRows)(s, visible);
}
void apply_dropout(const Tile& p, const DropoutMask& drop) {
  HWY_DYNAMIC_DISPATCH(DropTile)(p, drop);
}
void softmax_backward(const Tile& s, const Tile& g, const Visible& visible, const float* lse,
                      const float* delta, const DropoutMask& drop) {
  HWY_DYNAMIC_DISPATCH(SoftmaxBackward)(s, g, visible, lse, delta, drop);
}
void weights_backward(const Tile& p, const Tile& g, const Visible& visible, const float* shift,
                      int64_t shift_stride, const DropoutMask& drop) {
  HWY_DYNAMIC_DISPATCH(WeightsBackward)(p, g, visible, shift, shift_stride, drop);
}
bool all_finite(const Matrix& m) {
  return HWY_DYNAMIC_DISPATCH(AllFinite)(m);
}
void scale_rows(float* data, int64_t stride, int64_t rows, int64_t columns, const float* factor) {
  HWY_DYNAMIC_DISPATCH(ScaleRows)(data, stride, rows, columns, factor);
}
void row_products(const float* a, int64_t a_stride, const float* b, int64_t b_stride, int64_t rows,
                  int64_t columns, float* sum) {
  HWY_DYNAMIC_DISPATCH(RowProducts)(a, a_stride, b, b_stride, rows, columns, sum);
}
const char* vector_target() {
  return HWY_DYNAMIC_DISPATCH(Target)();
}

}  // namespace synthesizer::kernel
#endif  // HWY_ONCE
