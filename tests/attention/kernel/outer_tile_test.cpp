// Outer factors in the vector code against loops: both tilings, factors of any sizes, tiles at any place.

#include "attention/kernel/tiles.h"

namespace synthesizer::testing {
namespace {

using kernel::OuterFactors;

struct Factors {
  Factors(int64_t rows, int64_t a, int64_t b, bool tile)
      : left(noise({rows, a + 1}, 5)),
        right(noise({rows, b + 2}, 6)),
        outer{left.data_ptr<float>(), right.data_ptr<float>(), left.size(1), right.size(1), a, b, tile} {}
  int64_t of_right(int64_t column) const { return outer.tile ? column % outer.b : column / outer.a; }

  at::Tensor left, right;
  OuterFactors outer;
};

/// Calls body(place, factors) for all places, sizes of the first factor, and both tilings.
template <class Body>
void each(const Body& body) {
  for (const Place& p : kPlaces) {
    for (int64_t a : {1, 3, 4, 16, 21, 200}) {
      const int64_t b = (p.column + p.columns + a - 1) / a;
      body(p, Factors(p.row + p.rows, a, b, false));
      body(p, Factors(p.row + p.rows, a, b + 1, true));
    }
  }
}

TEST(OuterTile, is_put_or_added) {
  each([](const Place& p, const Factors& factors) {
    for (bool add : {false, true}) {
      const Block block(p.rows, p.columns, p.row, p.column, 1);
      const auto before = block.memory.clone();
      put_outer(block.tile, factors.outer, add);
      for (int64_t r = 0; r < p.rows; ++r) {
        const float *left = factors.left[p.row + r].data_ptr<float>(),
                    *right = factors.right[p.row + r].data_ptr<float>();
        for (int64_t j = 0; j < p.columns; ++j) {
          const double product = static_cast<double>(left[(p.column + j) % factors.outer.a]) *
                                 right[factors.of_right(p.column + j)];
          const float old = before.data_ptr<float>()[r * before.size(1) + j];
          EXPECT_NEAR(block.tile[r][j], product + (add ? old : 0), 1e-5);
        }
      }
      EXPECT_TRUE(at::equal(block.memory.narrow(1, p.columns, 3), before.narrow(1, p.columns, 3)))
          << "wrote beside it";
    }
  });
}

TEST(OuterTile, passes_gradients_to_both_factors) {
  each([](const Place& p, const Factors& factors) {
    const Block g(p.rows, p.columns, p.row, p.column, 1);
    auto to_left = noise(factors.left.sizes(), 7), to_right = noise(factors.right.sizes(), 8);
    const auto left = to_left.to(at::kDouble), right = to_right.to(at::kDouble);
    auto *dl = left.data_ptr<double>(), *dr = right.data_ptr<double>();
    for (int64_t r = 0; r < p.rows; ++r) {
      for (int64_t j = 0; j < p.columns; ++j) {
        const int64_t u = (p.column + j) % factors.outer.a, w = factors.of_right(p.column + j),
                      row = p.row + r;
        dl[row * left.size(1) + u] += g.tile[r][j] * factors.right.data_ptr<float>()[row * right.size(1) + w];
        dr[row * right.size(1) + w] += g.tile[r][j] * factors.left.data_ptr<float>()[row * left.size(1) + u];
      }
    }
    outer_backward(g.tile, factors.outer, to_left.data_ptr<float>(), to_left.size(1),
                   to_right.data_ptr<float>(), to_right.size(1));
    EXPECT_TRUE(close(to_left, left, 1e-5, 1));
    EXPECT_TRUE(close(to_right, right, 1e-5, 1));
  });
}

}  // namespace
}  // namespace synthesizer::testing
