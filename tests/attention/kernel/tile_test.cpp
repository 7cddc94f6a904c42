// The simple steps of the vector code against loops: tables, dropout, scaling, sums, and what a row sees.

#include "attention/kernel/tiles.h"

namespace synthesizer::testing {
namespace {

TEST(Tile, shows_each_row_the_columns_that_count) {
  for (const Place& p : kPlaces) {
    const Block block(p.rows, p.columns, p.row, p.column, 1);
    for (bool causal : {false, true}) {
      for (int64_t columns :
           {int64_t{0}, int64_t{1}, p.column, p.column + 1, p.column + p.columns, int64_t{1000}}) {
        for (int64_t r = 0; r < p.rows; ++r) {
          EXPECT_EQ((Visible{causal, columns}.of(block.tile, r)), seen({causal, columns}, block.tile, r));
        }
      }
    }
  }
}

TEST(Tile, takes_or_adds_a_table) {
  for (const Place& p : kPlaces) {
    for (bool one_row : {false, true}) {
      for (bool add : {false, true}) {
        const Block block(p.rows, p.columns, p.row, p.column, 1);
        const auto before = block.memory.clone(), table = noise({p.row + p.rows, p.column + p.columns}, 2);
        put_table(block.tile, {table.data_ptr<float>(), one_row ? 0 : table.size(1), 0.5f}, add);
        for (int64_t r = 0; r < p.rows; ++r) {
          for (int64_t j = 0; j < p.columns; ++j) {
            const float from =
                table.data_ptr<float>()[(one_row ? 0 : p.row + r) * table.size(1) + p.column + j];
            EXPECT_FLOAT_EQ(block.tile[r][j], 0.5f * from + (add ? before[r][j].item<float>() : 0.0f));
          }
        }
        EXPECT_TRUE(at::equal(block.memory.narrow(1, p.columns, 3), before.narrow(1, p.columns, 3)))
            << "wrote beside it";
      }
    }
  }
}

TEST(Tile, is_put_or_added_to_a_table_row_by_row_or_summed_into_one) {
  for (const Place& p : kPlaces) {
    for (auto [one_row, add] : {std::pair(false, false), {false, true}, {true, true}}) {
      const Block block(p.rows, p.columns, p.row, p.column, 1);
      auto table = noise({one_row ? 1 : p.row + p.rows, p.column + p.columns}, 2);
      auto expected = table.to(at::kDouble);
      const auto from = block.memory.narrow(1, 0, p.columns).to(at::kDouble);
      auto there =
          expected.narrow(0, one_row ? 0 : p.row, one_row ? 1 : p.rows).narrow(1, p.column, p.columns);
      if (!add) there.zero_();
      there += 0.5 * (one_row ? from.sum(0, true) : from);
      const int64_t stride = one_row ? 0 : table.size(1);
      const double product =
          kernel::table_product(block.tile, {table.data_ptr<float>(), stride}, {false, 1000});
      const auto other =
          table.narrow(0, one_row ? 0 : p.row, one_row ? 1 : p.rows).narrow(1, p.column, p.columns);
      EXPECT_NEAR(product, (from * other).sum().item<double>(), 1e-4);
      put_table_gradient(block.tile, 0.5f, add, table.data_ptr<float>(), stride);
      EXPECT_TRUE(close(table, expected, 1e-6));
    }
  }
}

TEST(Tile, drops_by_the_bits_of_each_place) {
  for (const Place& p : kPlaces) {
    const DropoutMask dropping{kernel::drop_threshold(0.4), 1.5f, 99, 3};
    const Block block(p.rows, p.columns, p.row, p.column, 1);
    const auto before = block.memory.clone();
    kernel::apply_dropout(block.tile, dropping);
    for (int64_t r = 0; r < p.rows; ++r) {
      for (int64_t j = 0; j < p.columns; ++j) {
        EXPECT_FLOAT_EQ(block.tile[r][j],
                        before[r][j].item<double>() * keep_factor(dropping, p.row + r, p.column + j));
      }
    }
    EXPECT_TRUE(at::equal(block.memory.narrow(1, p.columns, 3), before.narrow(1, p.columns, 3)))
        << "wrote beside it";
  }
}

TEST(Tile, scales_rows) {
  for (const Place& p : kPlaces) {
    auto data = noise({p.rows, p.columns + 2}, 1);
    const auto before = data.clone(), factor = noise({p.rows}, 2);
    kernel::scale_rows(data.data_ptr<float>(), data.size(1), p.rows, p.columns, factor.data_ptr<float>());
    EXPECT_TRUE(
        close(data.narrow(1, 0, p.columns), before.narrow(1, 0, p.columns) * factor.unsqueeze(1), 1e-7));
    EXPECT_TRUE(at::equal(data.narrow(1, p.columns, 2), before.narrow(1, p.columns, 2))) << "wrote beside it";
  }
}

TEST(Tile, sums_products_of_rows) {
  for (const Place& p : kPlaces) {
    const auto a = noise({p.rows, p.columns + 2}, 1), b = noise({p.rows, p.columns + 5}, 2);
    auto sum = at::empty({p.rows});
    kernel::row_products(a.data_ptr<float>(), a.size(1), b.data_ptr<float>(), b.size(1), p.rows, p.columns,
                         sum.data_ptr<float>());
    const auto expected = (a.narrow(1, 0, p.columns).to(at::kDouble) * b.narrow(1, 0, p.columns)).sum(1);
    EXPECT_TRUE(close(sum, expected, 1e-6, 1));
  }
}

TEST(Tile, names_its_vector_target) {
  EXPECT_STRNE(kernel::vector_target(), "");
}

}  // namespace
}  // namespace synthesizer::testing
