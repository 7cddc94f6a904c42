#include "attention/kernel/product.h"

#include <algorithm>
#include <cstring>

#include "attention/kernel/aligned_floats.h"
#include "attention/kernel/few_rows.h"

// Highway compiles the rest of this file once for each instruction set, in namespaces of their own.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernel/product.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace synthesizer::kernel {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = hn::MaxLanes(D());
constexpr int64_t kPanel = 2 * kLanes;  // columns of a panel: two vectors
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
constexpr int kStrip = 12;  // rows worked on at once: 24 sums in 32 registers
#else
constexpr int kStrip = 6;  // 12 sums in 16 registers
#endif

/// One strip of kRows rows against one panel; `columns` of the panel's columns exist in c.
template <int kRows, bool kTransposed>
HWY_INLINE void strip_times_panel(float alpha, const float* HWY_RESTRICT a, int64_t stride,
                                  const float* HWY_RESTRICT b, int64_t inner, bool add, float* c,
                                  int64_t c_stride, int64_t columns) {
  const D d;
  V sum0[kRows], sum1[kRows];
  for (int r = 0; r < kRows; ++r) sum0[r] = sum1[r] = hn::Zero(d);
  for (int64_t k = 0; k < inner; ++k, b += kPanel) {
    const V b0 = hn::Load(d, b), b1 = hn::Load(d, b + kLanes);
    for (int r = 0; r < kRows; ++r) {
      const V x = hn::Set(d, kTransposed ? a[k * stride + r] : a[r * stride + k]);
      sum0[r] = hn::MulAdd(x, b0, sum0[r]);
      sum1[r] = hn::MulAdd(x, b1, sum1[r]);
    }
  }
  const V scale = hn::Set(d, alpha);
  if (columns == kPanel) {
    for (int r = 0; r < kRows; ++r, c += c_stride) {
      const V old0 = add ? hn::LoadU(d, c) : hn::Zero(d), old1 = add ? hn::LoadU(d, c + kLanes) : hn::Zero(d);
      hn::StoreU(hn::MulAdd(sum0[r], scale, old0), d, c);
      hn::StoreU(hn::MulAdd(sum1[r], scale, old1), d, c + kLanes);
    }
    return;
  }
  HWY_ALIGN float row[kPanel];
  for (int r = 0; r < kRows; ++r, c += c_stride) {
    hn::Store(hn::Mul(sum0[r], scale), d, row);
    hn::Store(hn::Mul(sum1[r], scale), d, row + kLanes);
    for (int64_t j = 0; j < columns; ++j) c[j] = add ? c[j] + row[j] : row[j];
  }
}

/// All panels of one strip.
template <int kRows, bool kTransposed>
void strip_times_panels(float alpha, const float* a, int64_t stride, const float* b, int64_t panel_size,
                        int64_t inner, bool add, float* c, int64_t c_stride, int64_t columns) {
  for (int64_t j = 0; j < columns; j += kPanel, b += panel_size) {
    strip_times_panel<kRows, kTransposed>(alpha, a, stride, b, inner, add, c + j, c_stride,
                                          std::min(kPanel, columns - j));
  }
}

/// The number of rows as a constant: the sums must live in registers.
template <bool kTransposed, int kRows = kStrip, class... Args>
HWY_INLINE void with_rows(int64_t rows, const Args&... args) {
  if (rows == kRows) {
    strip_times_panels<kRows, kTransposed>(args...);
  } else if constexpr (kRows > 1) {
    with_rows<kTransposed, kRows - 1>(rows, args...);
  }
}

void Multiply(float alpha, const Matrix& a, const float* packed, int64_t packed_inner, int64_t inner_begin,
              int64_t column, bool add, const Matrix& c, const TriangularPart& part) {
  const int64_t panel_size = packed_inner * kPanel;
  const float* b = packed + column / kPanel * panel_size;
  const bool transposed = a.column_stride != 1;
  for (int64_t r = 0; r < c.rows; r += kStrip) {
    const int64_t rows = std::min<int64_t>(kStrip, c.rows - r), end = r + rows;
    int64_t columns = c.columns, from = 0, to = a.columns;
    switch (part.kind) {
      case TriangularPart::Kind::all: break;
      case TriangularPart::Kind::columns_below:
        columns = std::clamp<int64_t>(end + part.offset, 0, columns);
        break;
      case TriangularPart::Kind::inner_below: to = std::clamp<int64_t>(end + part.offset, 0, to); break;
      case TriangularPart::Kind::inner_from: from = std::clamp<int64_t>(r + part.offset, 0, to); break;
    }
    const float* left = a.data + r * a.row_stride + from * a.column_stride;
    const float* right = b + (inner_begin + from) * kPanel;
    float* out = c.data + r * c.row_stride;
    if (transposed) {
      with_rows<true>(rows, alpha, left, a.column_stride, right, panel_size, to - from, add, out,
                      c.row_stride, columns);
    } else {
      with_rows<false>(rows, alpha, left, a.row_stride, right, panel_size, to - from, add, out, c.row_stride,
                       columns);
    }
  }
}

/// Four rows of four as four columns.
HWY_INLINE void transpose4(const float* from, int64_t stride, float* to, int64_t to_stride) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t i = 0; i < 16; ++i) to[i % 4 * to_stride + i / 4] = from[i / 4 * stride + i % 4];
#else
  const hn::Full128<float> d;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + stride);
  const auto r2 = hn::LoadU(d, from + 2 * stride), r3 = hn::LoadU(d, from + 3 * stride);
  const auto a = hn::InterleaveLower(d, r0, r2), b = hn::InterleaveUpper(d, r0, r2);
  const auto e = hn::InterleaveLower(d, r1, r3), f = hn::InterleaveUpper(d, r1, r3);
  hn::StoreU(hn::InterleaveLower(d, a, e), d, to);
  hn::StoreU(hn::InterleaveUpper(d, a, e), d, to + to_stride);
  hn::StoreU(hn::InterleaveLower(d, b, f), d, to + 2 * to_stride);
  hn::StoreU(hn::InterleaveUpper(d, b, f), d, to + 3 * to_stride);
#endif
}

void Pack(const Matrix& b, float* to) {
  for (int64_t column = 0; column < b.columns; column += kPanel) {
    const int64_t columns = std::min(kPanel, b.columns - column);
    const float* from = b.data + column * b.column_stride;
    if (columns < kPanel) std::fill_n(to, b.rows * kPanel, 0.0f);
    if (b.column_stride == 1 && columns == kPanel) {
      const D d;
      for (int64_t k = 0; k < b.rows; ++k, from += b.row_stride) {
        hn::Store(hn::LoadU(d, from), d, to + k * kPanel);
        hn::Store(hn::LoadU(d, from + kLanes), d, to + k * kPanel + kLanes);
      }
    } else if (b.column_stride == 1) {
      for (int64_t k = 0; k < b.rows; ++k) {
        std::memcpy(to + k * kPanel, from + k * b.row_stride, static_cast<size_t>(columns) * sizeof(float));
      }
    } else {
      const bool quads = b.row_stride == 1;  // columns of b lie along the memory
      const int64_t whole_columns = quads ? columns / 4 * 4 : 0, whole_rows = quads ? b.rows / 4 * 4 : 0;
      for (int64_t j = 0; j < whole_columns; j += 4) {
        for (int64_t k = 0; k < whole_rows; k += 4) {
          transpose4(from + j * b.column_stride + k, b.column_stride, to + k * kPanel + j, kPanel);
        }
      }
      for (int64_t j = 0; j < columns; ++j) {
        for (int64_t k = j < whole_columns ? whole_rows : 0; k < b.rows; ++k) {
          to[k * kPanel + j] = from[j * b.column_stride + k * b.row_stride];
        }
      }
    }
    to += b.rows * kPanel;
  }
}

int64_t PackedSize(int64_t inner, int64_t columns) {
  return (columns + kPanel - 1) / kPanel * kPanel * inner;
}

}  // namespace HWY_NAMESPACE
}  // namespace synthesizer::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace synthesizer::kernel {

HWY_EXPORT(Multiply);
HWY_EXPORT(Pack);
HWY_EXPORT(PackedSize);

void Factor::pack(const Matrix& b, int64_t rows) {
  constexpr int64_t kFewRows = 8;
  matrix_ = b;
  packed_ = rows >= kFewRows;
  if (!packed_) return;
  const auto size = static_cast<size_t>(HWY_DYNAMIC_DISPATCH(PackedSize)(b.rows, b.columns));
  if (size > capacity_) {
    data_ = aligned_floats(size);
    capacity_ = size;
  }
  HWY_DYNAMIC_DISPATCH(Pack)(b, data_.get());
}

void multiply(float alpha, const Matrix& a, const Factor& b, int64_t inner, int64_t column, bool add,
              const Matrix& c, const TriangularPart& part) {
  if (b.packed()) {
    HWY_DYNAMIC_DISPATCH(Multiply)(alpha, a, b.panels(), b.matrix().rows, inner, column, add, c, part);
  } else {
    const Matrix right =
        b.matrix().row_range(inner, inner + a.columns).column_range(column, column + c.columns);
    few_rows_supports(a, right, c) ? multiply_few_rows(alpha, a, right, add, c)
                                   : multiply(alpha, a, right, add ? 1.0f : 0.0f, c);
  }
}

}  // namespace synthesizer::kernel
#endif  // HWY_ONCE
