// multiply against loops: every combination of layouts of a, b and c, with strides larger than needed,
// factors, and sizes of one and none.

#include "attention/kernel/matrix.h"

#include "attention/layers.h"

namespace synthesizer::kernel {
namespace {

/// A matrix in memory of its own, in either layout, with room between its lines.
struct Stored {
  Stored(int64_t rows, int64_t columns, bool transposed, uint64_t seed)
      : memory(testing::noise({std::max<int64_t>(rows, columns) + 1, std::max<int64_t>(rows, columns) + 3},
                              seed)) {
    const int64_t leading = memory.size(1);
    matrix = {memory.data_ptr<float>(), rows, columns, transposed ? 1 : leading, transposed ? leading : 1};
  }
  float at(int64_t r, int64_t c) const {
    return matrix.data[r * matrix.row_stride + c * matrix.column_stride];
  }

  at::Tensor memory;
  Matrix matrix;
};

void check_multiply(int64_t rows, int64_t inner, int64_t columns, int layout, float alpha, float beta) {
  const Stored a(rows, inner, layout & 1, 1), b(inner, columns, layout & 2, 2);
  const Stored before(rows, columns, layout & 4, 3), c(rows, columns, layout & 4, 3);
  multiply(alpha, a.matrix, b.matrix, beta, c.matrix);
  auto inside = at::zeros_like(c.memory, at::kBool);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < inner; ++k) sum += static_cast<double>(a.at(i, k)) * b.at(k, j);
      EXPECT_NEAR(c.at(i, j), alpha * sum + beta * before.at(i, j), 1e-4)
          << rows << "×" << inner << "×" << columns << ", layout " << layout << ", entry " << i << ", " << j;
      inside.data_ptr<bool>()[&c.matrix.data[i * c.matrix.row_stride + j * c.matrix.column_stride] -
                              c.matrix.data] = true;
    }
  }
  const auto outside = inside.logical_not();
  EXPECT_TRUE(at::equal(c.memory.masked_select(outside), before.memory.masked_select(outside)))
      << "wrote beside it";
}

TEST(Multiply, in_every_layout) {
  for (int layout = 0; layout < 8; ++layout) {
    for (auto [rows, inner, columns] : {std::array<int64_t, 3>{5, 7, 3},
                                        {1, 7, 3},
                                        {5, 1, 3},
                                        {5, 7, 1},
                                        {1, 1, 1},
                                        {1, 9, 1},
                                        {17, 33, 20}}) {
      check_multiply(rows, inner, columns, layout, 1, 0);
      check_multiply(rows, inner, columns, layout, 0.5f, 1);
      check_multiply(rows, inner, columns, layout, -2, 0.25f);
    }
  }
}

TEST(Multiply, of_nothing) {
  for (int layout = 0; layout < 8; ++layout) {
    check_multiply(4, 0, 3, layout, 1, 0);  // an empty sum is zero
    check_multiply(4, 0, 3, layout, 1, 1);
    check_multiply(0, 3, 4, layout, 1, 0);
    check_multiply(4, 3, 0, layout, 1, 0);
  }
}

TEST(Multiply, with_beta_zero_does_not_read_what_was_there) {
  const Stored a(3, 4, false, 1), b(4, 5, false, 2), c(3, 5, false, 3);
  c.memory.fill_(std::numeric_limits<float>::quiet_NaN());
  multiply(1, a.matrix, b.matrix, 0, c.matrix);
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 5; ++j) EXPECT_FALSE(std::isnan(c.at(i, j)));
  }
}

TEST(Matrix, ranges_and_transposes_name_the_same_entries) {
  const Stored m(6, 8, false, 4);
  const Matrix part = m.matrix.row_range(1, 5).column_range(2, 8);
  EXPECT_EQ(part.rows, 4);
  EXPECT_EQ(part.columns, 6);
  EXPECT_EQ(part.data[2 * part.row_stride + 3 * part.column_stride], m.at(3, 5));
  const Matrix turned = part.transposed();
  EXPECT_EQ(turned.rows, 6);
  EXPECT_EQ(turned.columns, 4);
  EXPECT_EQ(turned.data[3 * turned.row_stride + 2 * turned.column_stride], m.at(3, 5));
}

TEST(Multiply, without_a_stride_of_one_is_refused) {
  const Stored b(4, 5, false, 2), c(3, 5, false, 3);
  const Matrix a{c.matrix.data, 3, 4, 20, 2};
  EXPECT_THROW(multiply(1, a, b.matrix, 0, c.matrix), std::logic_error);
}

}  // namespace
}  // namespace synthesizer::kernel
