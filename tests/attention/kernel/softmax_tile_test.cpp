// Softmax of tiles, whole and block by block, and backward through it, against loops in double.

#include "attention/kernel/tiles.h"

namespace synthesizer::testing {
namespace {

/// softmax of what each row sees, as doubles; `lse` is filled with logarithms of sums where given.
at::Tensor weights_of(const at::Tensor& logits, const Visible& visible, const Tile& tile,
                      std::vector<double>* lse) {
  auto weights = at::zeros({tile.rows, tile.columns}, at::kDouble);
  auto* p = weights.data_ptr<double>();
  for (int64_t r = 0; r < tile.rows; ++r) {
    double sum = 0;
    const float* row = logits.data_ptr<float>() + r * logits.size(1);
    for (int64_t j = 0; j < seen(visible, tile, r); ++j) sum += std::exp(static_cast<double>(row[j]));
    for (int64_t j = 0; j < seen(visible, tile, r); ++j)
      p[r * tile.columns + j] = std::exp(static_cast<double>(row[j])) / sum;
    if (lse) lse->push_back(std::log(sum));
  }
  return weights;
}

std::vector<Visible> views(const Place& p) {
  return {{false, 1000},
          {true, 1000},
          {false, p.column + p.columns / 2},
          {true, p.column + p.columns / 2 + 1},
          {false, 0}};
}

TEST(SoftmaxTile, of_whole_rows) {
  for (const Place& p : kPlaces) {
    for (const Visible& visible : views(p)) {
      const Block block(p.rows, p.columns, p.row, p.column, 1);
      const auto logits = block.memory.clone();
      softmax_rows(block.tile, visible);
      EXPECT_TRUE(close(block.memory.narrow(1, 0, p.columns),
                        weights_of(logits, visible, block.tile, nullptr), 1e-6));
      EXPECT_TRUE(at::equal(block.memory.narrow(1, p.columns, 3), logits.narrow(1, p.columns, 3)))
          << "wrote beside it";
    }
  }
}

TEST(SoftmaxTile, online_over_blocks_of_columns_equals_that_of_whole_rows) {
  const int64_t rows = 6, columns = 75;
  for (int64_t step : {1, 4, 17, 32, 75}) {
    for (const Visible& visible : {Visible{false, 75}, Visible{true, 75}, Visible{false, 40}}) {
      const Block whole(rows, columns, 33, 0, 1);
      const auto expected = weights_of(whole.memory, visible, whole.tile, nullptr);
      std::vector<float> max(rows, -std::numeric_limits<float>::infinity()), sum(rows, 0), rescale(rows);
      auto weights = at::zeros({rows, columns}, at::kDouble);
      for (int64_t begin = 0; begin < columns; begin += step) {
        const int64_t n = std::min(step, columns - begin);
        auto part = whole.memory.narrow(1, begin, n).contiguous();
        kernel::softmax({part.data_ptr<float>(), n, rows, n, 33, begin}, visible, max.data(), sum.data(),
                        rescale.data());
        for (int64_t r = 0; r < rows; ++r) weights[r].narrow(0, 0, begin) *= static_cast<double>(rescale[r]);
        weights.narrow(1, begin, n) += part;
      }
      for (int64_t r = 0; r < rows; ++r) weights[r] /= static_cast<double>(sum[r]);
      EXPECT_TRUE(close(weights, expected, 1e-6)) << "step " << step;
    }
  }
}

TEST(SoftmaxTile, of_very_large_and_very_small_logits_is_finite) {
  for (float shift : {-1e4f, 0.0f, 1e4f}) {
    auto data = (at::arange(20, at::kFloat) * 30 + shift).view({1, 20}).contiguous();
    kernel::softmax_rows({data.data_ptr<float>(), 20, 1, 20, 0, 0}, {false, 20});
    EXPECT_NEAR(data.sum().item<double>(), 1, 1e-6);
    EXPECT_NEAR(data[0][19].item<double>(), 1, 1e-6);
  }
}

TEST(SoftmaxTile, backward_gives_dropped_weights_and_the_gradient_of_the_logits) {
  for (const Place& p : kPlaces) {
    for (const Visible& visible : views(p)) {
      for (const DropoutMask& dropping :
           {DropoutMask{}, DropoutMask{kernel::drop_threshold(0.3), 1 / 0.7f, 5, 2}}) {
        const Block s(p.rows, p.columns, p.row, p.column, 1), g(p.rows, p.columns, p.row, p.column, 2);
        std::vector<double> lse;
        const auto weights = weights_of(s.memory, visible, s.tile, &lse);
        auto dropped = weights.clone(), gradient = at::zeros_like(weights);
        const std::vector<float> lse32(lse.begin(), lse.end());
        const auto delta = noise({p.rows}, 3);
        for (int64_t r = 0; r < p.rows; ++r) {
          for (int64_t j = 0; j < p.columns; ++j) {
            const double w = weights[r][j].item<double>(), f = keep_factor(dropping, p.row + r, p.column + j);
            dropped[r][j] = w * f;
            gradient[r][j] = w * (g.tile[r][j] * f - delta[r].item<double>());
          }
        }
        softmax_backward(s.tile, g.tile, visible, lse32.data(), delta.data_ptr<float>(), dropping);
        EXPECT_TRUE(close(s.memory.narrow(1, 0, p.columns), dropped, 1e-6));
        EXPECT_TRUE(close(g.memory.narrow(1, 0, p.columns), gradient, 1e-6));
      }
    }
  }
}

TEST(SoftmaxTile, backward_through_normalised_weights) {
  for (const Place& p : kPlaces) {
    for (const DropoutMask& dropping :
         {DropoutMask{}, DropoutMask{kernel::drop_threshold(0.3), 1 / 0.7f, 5, 2}}) {
      const Visible visible{true, p.column + p.columns};
      const Block w(p.rows, p.columns, p.row, p.column, 1), g(p.rows, p.columns, p.row, p.column, 2);
      const auto shift = noise({p.rows, p.columns + 1}, 3);
      auto expected = at::zeros({p.rows, p.columns}, at::kDouble);
      for (int64_t r = 0; r < p.rows; ++r) {
        for (int64_t j = 0; j < seen(visible, w.tile, r); ++j) {
          const double f = keep_factor(dropping, p.row + r, p.column + j);
          expected[r][j] = w.tile[r][j] * (g.tile[r][j] * f - shift[r][j].item<double>());
        }
      }
      weights_backward(w.tile, g.tile, visible, shift.data_ptr<float>(), shift.size(1), dropping);
      EXPECT_TRUE(close(g.memory.narrow(1, 0, p.columns), expected, 1e-6));
    }
  }
}

}  // namespace
}  // namespace synthesizer::testing
