#include "attention/kernel/product.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "attention/kernel/aligned_floats.h"
#include "attention/kernel/few_rows.h"
#include "attention/kernel/weight_memory.h"

// Highway compiles the rest of this file once for each instruction set, in namespaces of their own.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernel/product.cpp"
#include <hwy/cache_control.h>
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

/// Rows of panels as they are stored: how many words a row has, and its two vectors.
struct Float32Rows {
  static constexpr int64_t kWords = kPanel;
  static HWY_INLINE void load(const float* HWY_RESTRICT row, V& first, V& second) {
    const D d;
    first = hn::Load(d, row);
    second = hn::Load(d, row + kLanes);
  }
};
struct Bfloat16Rows {
  static constexpr int64_t kWords = kLanes;
  static HWY_INLINE void load(const float* HWY_RESTRICT row, V& first, V& second) {
    const D d;
    const hn::RebindToUnsigned<D> words;
    const auto pairs = hn::BitCast(words, hn::Load(d, row));
    first = hn::BitCast(d, hn::And(pairs, hn::Set(words, 0xffff0000u)));
    second = hn::BitCast(d, hn::ShiftLeft<16>(pairs));
  }
  static HWY_INLINE void store(V first, V second, float* HWY_RESTRICT row) {
    const D d;
    const hn::RebindToUnsigned<D> words;
    const auto upper = hn::And(hn::BitCast(words, first), hn::Set(words, 0xffff0000u));
    hn::Store(hn::BitCast(d, hn::Or(upper, hn::ShiftRight<16>(hn::BitCast(words, second)))), d, row);
  }
};

/// A strip of rows of the left factor and of the result.
struct Strip {
  const float* a;
  int64_t a_stride;  ///< of rows, or of columns where a is transposed
  int64_t inner;
  float* c;
  int64_t c_stride;
};

/// What a strip fetches of the panel after its own while it computes: one cache line after another, each in
/// as many steps as there are strips, which together fetch all of it. A weight that comes from memory is
/// there when it is needed.
struct NextPanel {
  const float* part;
  int64_t strips;
};

/// Calls body(row) for each of the rows, one after another and not in a loop: what a loop indexes lies in
/// memory.
template <int kRows, int kRow = 0, class Body>
HWY_INLINE void for_each_row(const Body& body) {
  if constexpr (kRow < kRows) {
    body(std::integral_constant<int, kRow>());
    for_each_row<kRows, kRow + 1>(body);
  }
}

/// One strip of kRows rows against one panel; `columns` of the panel's columns exist in c.
template <int kRows, bool kTransposed, class Rows>
void strip_times_panel(float alpha, const Strip& strip, const float* HWY_RESTRICT b, NextPanel next, bool add,
                       int64_t columns) {
  const D d;
  const float* HWY_RESTRICT a = strip.a;
  const int64_t stride = strip.a_stride;
  V sum0[kRows], sum1[kRows];
  for_each_row<kRows>([&](auto r) HWY_ATTR { sum0[r] = sum1[r] = hn::Zero(d); });
  for (int64_t k = 0; k < strip.inner;) {
    hwy::Prefetch(next.part);
    next.part += Rows::kWords;
    for (const int64_t end = std::min(k + next.strips, strip.inner); k < end; ++k, b += Rows::kWords) {
      V b0, b1;
      Rows::load(b, b0, b1);
      for_each_row<kRows>([&](auto r) HWY_ATTR {
        const V x = hn::Set(d, kTransposed ? a[k * stride + r] : a[r * stride + k]);
        sum0[r] = hn::MulAdd(x, b0, sum0[r]);
        sum1[r] = hn::MulAdd(x, b1, sum1[r]);
      });
    }
  }
  const V scale = hn::Set(d, alpha);
  float* c = strip.c;
  if (columns == kPanel) {
    for_each_row<kRows>([&](auto r) HWY_ATTR {
      float* to = c + r * strip.c_stride;
      const V old0 = add ? hn::LoadU(d, to) : hn::Zero(d),
              old1 = add ? hn::LoadU(d, to + kLanes) : hn::Zero(d);
      hn::StoreU(hn::MulAdd(sum0[r], scale, old0), d, to);
      hn::StoreU(hn::MulAdd(sum1[r], scale, old1), d, to + kLanes);
    });
    return;
  }
  HWY_ALIGN float row[kPanel];
  for_each_row<kRows>([&](auto r) HWY_ATTR {
    float* to = c + r * strip.c_stride;
    hn::Store(hn::Mul(sum0[r], scale), d, row);
    hn::Store(hn::Mul(sum1[r], scale), d, row + kLanes);
    for (int64_t j = 0; j < columns; ++j) to[j] = add ? to[j] + row[j] : row[j];
  });
}

/// The number of rows as a constant: the sums must live in registers.
template <bool kTransposed, class Rows, int kRows = kStrip, class... Args>
HWY_INLINE void with_rows(int64_t rows, const Args&... args) {
  if (rows == kRows) {
    strip_times_panel<kRows, kTransposed, Rows>(args...);
  } else if constexpr (kRows > 1) {
    with_rows<kTransposed, Rows, kRows - 1>(rows, args...);
  }
}

template <class Rows>
HWY_INLINE void multiply_panels(float alpha, const Matrix& a, const float* packed, int64_t packed_inner,
                                int64_t inner_begin, int64_t column, bool add, const Matrix& c,
                                const TriangularPart& part) {
  const int64_t panel_size = packed_inner * Rows::kWords;
  const bool transposed = a.column_stride != 1;
  // Strips of almost equal height: a strip of one or two rows would wait for its own sums.
  const int64_t strips = (c.rows + kStrip - 1) / kStrip;
  for (int64_t panel = 0; panel < c.columns; panel += kPanel) {
    for (int64_t n = 0; n < strips; ++n) {
      const int64_t r = n * c.rows / strips, end = (n + 1) * c.rows / strips;
      int64_t columns = c.columns, from = 0, to = a.columns;
      switch (part.kind) {
        case TriangularPart::Kind::all: break;
        case TriangularPart::Kind::columns_below: columns = std::min(end + part.offset, columns); break;
        case TriangularPart::Kind::inner_below: to = std::clamp<int64_t>(end + part.offset, 0, to); break;
        case TriangularPart::Kind::inner_from: from = std::clamp<int64_t>(r + part.offset, 0, to); break;
      }
      if (columns <= panel) continue;
      const Strip strip = {a.data + r * a.row_stride + from * a.column_stride,
                           transposed ? a.column_stride : a.row_stride, to - from,
                           c.data + r * c.row_stride + panel, c.row_stride};
      const float* b = packed + (column + panel) / kPanel * panel_size + (inner_begin + from) * Rows::kWords;
      const NextPanel next = {b + panel_size + n * a.columns / strips * Rows::kWords, strips};
      const int64_t wide = std::min(kPanel, columns - panel);
      if (transposed) {
        with_rows<true, Rows>(end - r, alpha, strip, b, next, add, wide);
      } else {
        with_rows<false, Rows>(end - r, alpha, strip, b, next, add, wide);
      }
    }
  }
}

void Multiply(Storage storage, float alpha, const Matrix& a, const float* packed, int64_t packed_inner,
              int64_t inner_begin, int64_t column, bool add, const Matrix& c, const TriangularPart& part) {
  if (storage == Storage::bfloat16) {
    multiply_panels<Bfloat16Rows>(alpha, a, packed, packed_inner, inner_begin, column, add, c, part);
  } else {
    multiply_panels<Float32Rows>(alpha, a, packed, packed_inner, inner_begin, column, add, c, part);
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

/// Rows of panels of float32 as bfloat16.
void Halve(const float* packed, int64_t rows, float* to) {
  for (int64_t row = 0; row < rows; ++row) {
    V first, second;
    Float32Rows::load(packed + row * Float32Rows::kWords, first, second);
    Bfloat16Rows::store(first, second, to + row * Bfloat16Rows::kWords);
  }
}

/// Rows of all panels together.
int64_t PanelRows(int64_t inner, int64_t columns) {
  return (columns + kPanel - 1) / kPanel * inner;
}

int64_t WordsOfRow(Storage storage) {
  return storage == Storage::bfloat16 ? Bfloat16Rows::kWords : Float32Rows::kWords;
}

}  // namespace HWY_NAMESPACE
}  // namespace synthesizer::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace synthesizer::kernel {

HWY_EXPORT(Multiply);
HWY_EXPORT(Pack);
HWY_EXPORT(Halve);
HWY_EXPORT(PanelRows);
HWY_EXPORT(WordsOfRow);

namespace {

int64_t packed_words(int64_t inner, int64_t columns, Storage storage) {
  return HWY_DYNAMIC_DISPATCH(PanelRows)(inner, columns) * HWY_DYNAMIC_DISPATCH(WordsOfRow)(storage);
}

}  // namespace

void Factor::pack(const Matrix& b, int64_t rows) {
  if (worth_packing(rows)) {
    reserve(b);
    pack_columns(0, b.columns);
  } else {
    matrix_ = b;
    packed_ = false;
  }
}

void Factor::reserve(const Matrix& b) {
  matrix_ = b;
  packed_ = true;
  storage_ = Storage::float32;
  const auto size = static_cast<size_t>(packed_words(b.rows, b.columns, storage_));
  if (size <= capacity_) return;
  data_ = aligned_floats(size);
  capacity_ = size;
}

void Factor::pack_columns(int64_t begin, int64_t end) const {
  HWY_DYNAMIC_DISPATCH(Pack)(matrix_.column_range(begin, end), data_.get() + begin * matrix_.rows);
}

void Factor::pack_weight(const Matrix& b, Storage storage) {
  matrix_ = b;
  packed_ = true;
  storage_ = storage;
  capacity_ = static_cast<size_t>(packed_words(b.rows, b.columns, storage));
  data_ = weight_memory(capacity_);
  if (storage == Storage::float32) {
    HWY_DYNAMIC_DISPATCH(Pack)(b, data_.get());
    return;
  }
  const auto wide = aligned_floats(static_cast<size_t>(kPanelAlignment * b.rows));
  for (int64_t column = 0; column < b.columns; column += kPanelAlignment) {
    const Matrix part = b.column_range(column, std::min(column + kPanelAlignment, b.columns));
    HWY_DYNAMIC_DISPATCH(Pack)(part, wide.get());
    HWY_DYNAMIC_DISPATCH(Halve)
    (wide.get(), HWY_DYNAMIC_DISPATCH(PanelRows)(b.rows, part.columns),
     data_.get() + packed_words(b.rows, column, storage));
  }
}

void multiply(float alpha, const Matrix& a, const Factor& b, int64_t inner, int64_t column, bool add,
              const Matrix& c, const TriangularPart& part) {
  if (b.packed()) {
    HWY_DYNAMIC_DISPATCH(Multiply)
    (b.storage(), alpha, a, b.panels(), b.matrix().rows, inner, column, add, c, part);
  } else {
    const Matrix right =
        b.matrix().row_range(inner, inner + a.columns).column_range(column, column + c.columns);
    few_rows_supports(a, right, c) ? multiply_few_rows(alpha, a, right, add, c)
                                   : multiply(alpha, a, right, add ? 1.0f : 0.0f, c);
  }
}

}  // namespace synthesizer::kernel
#endif  // HWY_ONCE
