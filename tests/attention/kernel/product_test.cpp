// Products with a factor that is packed once, against loops: any place in the factor, both layouts of the
// left side, and the parts that end at a diagonal.

#include "attention/kernel/product.h"

#include "attention/kernel/packed_product.h"
#include "attention/layers.h"

namespace synthesizer::kernel {
namespace {

Matrix matrix_of(const at::Tensor& t) {
  return {t.data_ptr<float>(), t.size(0), t.size(1), t.stride(0), t.stride(1)};
}

/// A row-major or column-major tensor with room between its lines.
at::Tensor stored(int64_t rows, int64_t columns, bool transposed, uint64_t seed) {
  const auto t = testing::noise({transposed ? columns : rows, (transposed ? rows : columns) + 3}, seed);
  const auto cut = t.narrow(1, 0, transposed ? rows : columns);
  return transposed ? cut.t() : cut;
}

struct ProductSizes {
  int64_t rows, inner, columns;
};
const ProductSizes kProductSizes[] = {{1, 1, 1},    {5, 3, 4},   {8, 7, 16},   {12, 16, 32},
                                      {13, 20, 33}, {25, 5, 70}, {48, 40, 130}};

TEST(Product, in_every_layout_scaled_and_added) {
  for (const ProductSizes& s : kProductSizes) {
    for (int layout = 0; layout < 4; ++layout) {
      for (int64_t meeting : {1, 100}) {  // few rows: not packed
        for (bool add : {false, true}) {
          const auto a = stored(s.rows, s.inner, layout & 1, 1),
                     b = stored(s.inner, s.columns, layout & 2, 2);
          const auto c = stored(s.rows, s.columns, false, 3), before = c.clone();
          Factor factor;
          factor.pack(matrix_of(b), meeting);
          EXPECT_EQ(factor.packed(), meeting == 100);
          multiply(0.5f, matrix_of(a), factor, 0, 0, add, matrix_of(c));
          const auto product = 0.5 * at::matmul(a.to(at::kDouble), b.to(at::kDouble));
          EXPECT_TRUE(testing::close(c, add ? before.to(at::kDouble) + product : product, 1e-5, 1))
              << s.rows << "×" << s.inner << "×" << s.columns << ", layout " << layout;
        }
      }
    }
  }
}

TEST(Product, with_a_part_of_the_factor) {
  const auto b = stored(90, 300, false, 2);
  for (int64_t meeting : {1, 100}) {
    Factor factor;
    factor.pack(matrix_of(b), meeting);
    for (int64_t inner : {0, 1, 37}) {
      for (int64_t column : {0, 64, 256}) {
        const auto a = stored(20, 50, false, 1), c = stored(20, 40, false, 3);
        multiply(1, matrix_of(a), factor, inner, column, false, matrix_of(c));
        const auto part = b.narrow(0, inner, 50).narrow(1, column, 40);
        EXPECT_TRUE(testing::close(c, at::matmul(a.to(at::kDouble), part.to(at::kDouble)), 1e-5, 1))
            << inner << " " << column;
      }
    }
  }
}

TEST(Product, of_whole_matrices_by_all_threads) {
  for (const ProductSizes& s :
       {ProductSizes{1, 1, 1}, ProductSizes{0, 5, 3}, ProductSizes{5, 0, 3}, ProductSizes{5, 3, 0},
        ProductSizes{49, 1025, 70}, ProductSizes{400, 30, 600}}) {
    for (int layout = 0; layout < 4; ++layout) {
      const auto a = stored(s.rows, s.inner, layout & 1, 1), b = stored(s.inner, s.columns, layout & 2, 2);
      const auto product = at::matmul(a.to(at::kDouble), b.to(at::kDouble));
      const auto bias = testing::noise({s.columns}, 4);
      const auto before = stored(s.rows, s.columns, false, 3);
      const std::pair<Start, at::Tensor> starts[] = {
          {{}, at::zeros_like(product)},
          {{.bias = bias.data_ptr<float>()}, bias.expand_as(product)},
          {{.there = true}, before}};
      for (const auto& [start, added] : starts) {
        const auto c = before.clone();
        multiply_rows(matrix_of(a), matrix_of(b), start, matrix_of(c));
        EXPECT_TRUE(testing::close(c, product + added, 1e-6, 1)) << s.rows << ", layout " << layout;
      }
    }
  }
}

TEST(Product, with_a_factor_taken_again) {
  Factor factor;
  for (const ProductSizes& s :
       {ProductSizes{20, 40, 90}, ProductSizes{20, 5, 7}, ProductSizes{20, 50, 100}}) {
    const auto a = stored(s.rows, s.inner, false, 1), b = stored(s.inner, s.columns, false, s.inner);
    const auto c = stored(s.rows, s.columns, false, 3);
    factor.pack(matrix_of(b), s.rows);
    multiply(1, matrix_of(a), factor, 0, 0, false, matrix_of(c));
    EXPECT_TRUE(testing::close(c, at::matmul(a.to(at::kDouble), b.to(at::kDouble)), 1e-5, 1));
  }
}

TEST(Product, of_a_weight_in_bfloat16_has_the_bits_of_its_numbers_in_float32) {
  for (const ProductSizes& s : {ProductSizes{1, 1, 1}, ProductSizes{3, 7, 65}, ProductSizes{12, 16, 32},
                                ProductSizes{13, 600, 130}, ProductSizes{97, 20, 33}}) {
    for (int layout = 0; layout < 4; ++layout) {
      const auto a = stored(s.rows, s.inner, layout & 1, 1), b = stored(s.inner, s.columns, layout & 2, 2);
      b.copy_(b.to(at::kBFloat16));
      const auto c = stored(s.rows, s.columns, false, 3), wanted = c.clone();
      Factor wide, narrow;
      wide.pack_weight(matrix_of(b));
      narrow.pack_weight(matrix_of(b), Storage::bfloat16);
      EXPECT_EQ(2 * narrow.capacity(), wide.capacity());
      multiply_rows(matrix_of(a), wide, {.there = true}, matrix_of(wanted));
      multiply_rows(matrix_of(a), narrow, {.there = true}, matrix_of(c));
      EXPECT_TRUE(testing::same_bits(c, wanted)) << s.rows << ", layout " << layout;
    }
  }
}

TEST(Product, writes_beside_nothing) {
  for (const ProductSizes& s : kProductSizes) {
    const auto memory = testing::noise({s.rows + 1, s.columns + 5}, 3), before = memory.clone();
    const auto c = memory.narrow(0, 0, s.rows).narrow(1, 0, s.columns);
    const auto a = stored(s.rows, s.inner, false, 1), b = stored(s.inner, s.columns, false, 2);
    Factor factor;
    factor.pack(matrix_of(b), 100);
    multiply(1, matrix_of(a), factor, 0, 0, false, matrix_of(c));
    EXPECT_TRUE(at::equal(memory.narrow(1, s.columns, 5), before.narrow(1, s.columns, 5)));
    EXPECT_TRUE(at::equal(memory[s.rows], before[s.rows]));
  }
}

TEST(Product, up_to_a_diagonal_is_right_where_it_is_wanted) {
  for (int64_t offset : {-5, 0, 3, 40}) {
    const auto a = stored(30, 60, false, 1), b = stored(60, 50, false, 2), c = stored(30, 50, false, 3);
    Factor factor;
    factor.pack(matrix_of(b), 100);
    multiply(1, matrix_of(a), factor, 0, 0, false, matrix_of(c),
             {TriangularPart::Kind::columns_below, offset});
    const auto wanted = at::matmul(a.to(at::kDouble), b.to(at::kDouble)).tril(offset);
    EXPECT_TRUE(testing::close(c.tril(offset), wanted, 1e-5, 1)) << offset;
  }
}

TEST(Product, may_leave_out_zeros_of_the_left_factor) {
  for (int64_t offset : {-5, 0, 3, 40}) {
    const auto b = stored(60, 50, false, 2);
    Factor factor;
    factor.pack(matrix_of(b), 100);
    const std::pair<TriangularPart::Kind, at::Tensor> kinds[] = {
        {TriangularPart::Kind::inner_below, stored(30, 60, false, 1).tril(offset)},
        {TriangularPart::Kind::inner_from, stored(30, 60, false, 1).triu(offset)}};
    for (const auto& [kind, a] : kinds) {
      const auto c = stored(30, 50, false, 3);
      multiply(1, matrix_of(a), factor, 0, 0, false, matrix_of(c), {kind, offset});
      EXPECT_TRUE(testing::close(c, at::matmul(a.to(at::kDouble), b.to(at::kDouble)), 1e-5, 1)) << offset;
    }
  }
}

}  // namespace
}  // namespace synthesizer::kernel
