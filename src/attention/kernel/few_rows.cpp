#include "attention/kernel/few_rows.h"

#include <algorithm>

// Highway compiles the rest of this file once for each instruction set, in namespaces of their own.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernel/few_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace synthesizer::kernel {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = hn::MaxLanes(D());
constexpr int kVectors = 4;  // sums of a row that are made at once: more than a multiply-add takes to be done

/// kVectors vectors of one row of c: as many columns of b, all of its rows.
HWY_INLINE void row_times_columns(float alpha, const float* a, int64_t a_stride, const Matrix& b,
                                  int64_t column, bool add, float* c) {
  const D d;
  V sum[kVectors];
  for (V& one : sum) one = hn::Zero(d);
  const float* from = b.data + column;
  for (int64_t k = 0; k < b.rows; ++k, from += b.row_stride) {
    const V x = hn::Set(d, a[k * a_stride]);
    for (int v = 0; v < kVectors; ++v) sum[v] = hn::MulAdd(x, hn::LoadU(d, from + v * kLanes), sum[v]);
  }
  const V scale = hn::Set(d, alpha);
  for (int v = 0; v < kVectors; ++v) {
    float* to = c + column + v * kLanes;
    hn::StoreU(hn::MulAdd(sum[v], scale, add ? hn::LoadU(d, to) : hn::Zero(d)), d, to);
  }
}

/// b's columns lie side by side: sums of its rows.
void SumRows(float alpha, const Matrix& a, const Matrix& b, bool add, const Matrix& c) {
  for (int64_t r = 0; r < c.rows; ++r) {
    const float* left = a.data + r * a.row_stride;
    float* out = c.data + r * c.row_stride;
    int64_t column = 0;
    for (; column + kVectors * kLanes <= c.columns; column += kVectors * kLanes)
      row_times_columns(alpha, left, a.column_stride, b, column, add, out);
    for (; column < c.columns; ++column) {
      float sum = 0;
      for (int64_t k = 0; k < b.rows; ++k)
        sum += left[k * a.column_stride] * b.data[k * b.row_stride + column];
      out[column] = alpha * sum + (add ? out[column] : 0);
    }
  }
}

/// b's rows lie side by side, as keys do: a product of two vectors for each of its columns.
void Dots(float alpha, const Matrix& a, const Matrix& b, bool add, const Matrix& c) {
  const D d;
  const int64_t whole = b.rows / kLanes * kLanes;
  for (int64_t column = 0; column < c.columns; ++column) {
    const float* right = b.data + column * b.column_stride;
    for (int64_t r = 0; r < c.rows; ++r) {
      const float* left = a.data + r * a.row_stride;
      V even = hn::Zero(d), odd = hn::Zero(d);
      int64_t k = 0;
      for (; k + 2 * kLanes <= whole; k += 2 * kLanes) {
        even = hn::MulAdd(hn::LoadU(d, left + k), hn::LoadU(d, right + k), even);
        odd = hn::MulAdd(hn::LoadU(d, left + k + kLanes), hn::LoadU(d, right + k + kLanes), odd);
      }
      if (k < whole) even = hn::MulAdd(hn::LoadU(d, left + k), hn::LoadU(d, right + k), even);
      float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
      for (k = whole; k < b.rows; ++k) sum += left[k] * right[k];
      float& to = c.data[r * c.row_stride + column];
      to = alpha * sum + (add ? to : 0);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace synthesizer::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace synthesizer::kernel {

HWY_EXPORT(SumRows);
HWY_EXPORT(Dots);

void multiply_few_rows(float alpha, const Matrix& a, const Matrix& b, bool add, const Matrix& c) {
  if (b.column_stride == 1) {
    HWY_DYNAMIC_DISPATCH(SumRows)(alpha, a, b, add, c);
  } else {
    HWY_DYNAMIC_DISPATCH(Dots)(alpha, a, b, add, c);
  }
}

}  // namespace synthesizer::kernel
#endif  // HWY_ONCE
