// The parts of S on a tile that are not products: the table and the outer factors, and their gradients.

#include "attention/kernel/tile.h"

// Highway compiles the rest of this file once for each instruction set, in namespaces of their own.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernel/tile_parts.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// must come after highway.h
#include "attention/kernel/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace synthesizer::kernel {
namespace HWY_NAMESPACE {

void PutTable(const Tile& s, const Table& table, bool add) {
  const D d;
  const V scale = hn::Set(d, table.scale);
  for (int64_t r = 0; r < s.rows; ++r) {
    float* to = s[r];
    const float* from = table.data + (s.row + r) * table.row_stride + s.column;
    if (add) {
      for_each(
          s.columns,
          [&](int64_t j) {
            hn::StoreU(hn::MulAdd(scale, hn::LoadU(d, from + j), hn::LoadU(d, to + j)), d, to + j);
          },
          [&](int64_t j) { to[j] += table.scale * from[j]; });
    } else {
      for_each(
          s.columns, [&](int64_t j) { hn::StoreU(hn::Mul(scale, hn::LoadU(d, from + j)), d, to + j); },
          [&](int64_t j) { to[j] = table.scale * from[j]; });
    }
  }
}

/// Calls body(first tile column, how many, first index in left, index in right) for each run of columns
/// that share one entry of right. With `tile` every column is a run of its own.
template <class Body>
HWY_INLINE void for_each_run(const Tile& t, const OuterFactors& o, const Body& body) {
  for (int64_t j = 0; j < t.columns;) {
    const int64_t column = t.column + j;
    const int64_t u = column % o.a;
    const int64_t room = o.tile ? 1 : o.a - u;
    const int64_t n = room < t.columns - j ? room : t.columns - j;
    body(j, n, u, o.tile ? column % o.b : column / o.a);
    j += n;
  }
}

void PutOuter(const Tile& s, const OuterFactors& o, bool add) {
  const D d;
  for (int64_t r = 0; r < s.rows; ++r) {
    const float* left = o.left + (s.row + r) * o.left_stride;
    const float* right = o.right + (s.row + r) * o.right_stride;
    float* to = s[r];
    for_each_run(s, o, [&](int64_t j, int64_t n, int64_t u, int64_t w) {
      const V factor = hn::Set(d, right[w]);
      for_each(
          n,
          [&](int64_t i) {
            const V sum = add ? hn::LoadU(d, to + j + i) : hn::Zero(d);
            hn::StoreU(hn::MulAdd(hn::LoadU(d, left + u + i), factor, sum), d, to + j + i);
          },
          [&](int64_t i) { to[j + i] = left[u + i] * right[w] + (add ? to[j + i] : 0.0f); });
    });
  }
}

void PutTableGradient(const Tile& g, float scale, bool add, float* table, int64_t row_stride) {
  const D d;
  const V vscale = hn::Set(d, scale);
  for (int64_t r = 0; r < g.rows; ++r) {
    const float* from = g[r];
    float* to = table + (g.row + r) * row_stride + g.column;
    if (add || row_stride == 0) {
      for_each(
          g.columns,
          [&](int64_t j) {
            hn::StoreU(hn::MulAdd(vscale, hn::LoadU(d, from + j), hn::LoadU(d, to + j)), d, to + j);
          },
          [&](int64_t j) { to[j] += scale * from[j]; });
    } else {
      for_each(
          g.columns, [&](int64_t j) { hn::StoreU(hn::Mul(vscale, hn::LoadU(d, from + j)), d, to + j); },
          [&](int64_t j) { to[j] = scale * from[j]; });
    }
  }
}

double TableProduct(const Tile& g, const Table& table, const Visible& visible) {
  const D d;
  double sum = 0;  // over many rows, whose products cancel
  for (int64_t r = 0; r < g.rows; ++r) {
    const float *x = g[r], *y = table.data + (g.row + r) * table.row_stride + g.column;
    V products = hn::Zero(d);
    float rest = 0;
    for_each(
        visible.of(g, r),
        [&](int64_t j) { products = hn::MulAdd(hn::LoadU(d, x + j), hn::LoadU(d, y + j), products); },
        [&](int64_t j) { rest += x[j] * y[j]; });
    sum += hn::GetLane(hn::SumOfLanes(d, products)) + rest;
  }
  return sum;
}

void OuterBackward(const Tile& g, const OuterFactors& o, float* left, int64_t left_stride, float* right,
                   int64_t right_stride) {
  const D d;
  for (int64_t r = 0; r < g.rows; ++r) {
    const float* a = o.left + (g.row + r) * o.left_stride;
    const float* b = o.right + (g.row + r) * o.right_stride;
    float* da = left + (g.row + r) * left_stride;
    float* db = right + (g.row + r) * right_stride;
    for_each_run(g, o, [&](int64_t j, int64_t n, int64_t u, int64_t w) {
      const V factor = hn::Set(d, b[w]);
      V products = hn::Zero(d);
      float rest = 0;
      for_each(
          n,
          [&](int64_t i) {
            const V gradient = hn::LoadU(d, g[r] + j + i);
            hn::StoreU(hn::MulAdd(gradient, factor, hn::LoadU(d, da + u + i)), d, da + u + i);
            products = hn::MulAdd(gradient, hn::LoadU(d, a + u + i), products);
          },
          [&](int64_t i) {
            da[u + i] += g[r][j + i] * b[w];
            rest += g[r][j + i] * a[u + i];
          });
      db[w] += hn::GetLane(hn::SumOfLanes(d, products)) + rest;
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace synthesizer::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace synthesizer::kernel {

HWY_EXPORT(PutTable);
HWY_EXPORT(PutOuter);
HWY_EXPORT(PutTableGradient);
HWY_EXPORT(TableProduct);
HWY_EXPORT(OuterBackward);

void put_table(const Tile& s, const Table& table, bool add) {
  HWY_DYNAMIC_DISPATCH(PutTable)(s, table, add);
}
void put_outer(const Tile& s, const OuterFactors& outer, bool add) {
  HWY_DYNAMIC_DISPATCH(PutOuter)(s, outer, add);
}
void put_table_gradient(const Tile& g, float scale, bool add, float* to, int64_t row_stride) {
  HWY_DYNAMIC_DISPATCH(PutTableGradient)(g, scale, add, to, row_stride);
}
double table_product(const Tile& g, const Table& table, const Visible& visible) {
  return HWY_DYNAMIC_DISPATCH(TableProduct)(g, table, visible);
}
void outer_backward(const Tile& g, const OuterFactors& outer, float* left, int64_t left_stride, float* right,
                    int64_t right_stride) {
  HWY_DYNAMIC_DISPATCH(OuterBackward)(g, outer, left, left_stride, right, right_stride);
}

}  // namespace synthesizer::kernel
#endif  // HWY_ONCE
