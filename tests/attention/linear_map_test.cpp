// The product under every projection: packed weights give what the formula gives, and bfloat16 weights what
// it gives for rounded ones; int8 weights are near it, a quarter of the size, and treat every row alike. None
// gives gradients.

#include "attention/linear_map.h"

#include <limits>

#include "attention/layers.h"
#include "base/error.h"

namespace synthesizer {
namespace {

at::Tensor exact(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  const auto y = at::matmul(x.to(at::kDouble), weight.to(at::kDouble).t());
  return bias.defined() ? y + bias.to(at::kDouble) : y;
}

MatrixFormPtr packed(const at::Tensor& weight) {
  return std::make_shared<PackedMatrix>(weight);
}

TEST(LinearMap, PackedEqualsTheFormula) {
  c10::NoGradGuard no_grad;
  for (const int64_t rows : {0, 1, 2, 5, 7, 12, 97, 200}) {
    for (const int64_t in : {1, 3, 64}) {
      for (const int64_t out : {1, 16, 63, 64, 65, 200}) {
        const auto x = testing::noise({rows, in}, 1), weight = testing::noise({out, in}, 2);
        for (const at::Tensor& bias : {at::Tensor(), testing::noise({out}, 3)}) {
          const auto y = linear_map(x, weight, bias, packed(weight));
          EXPECT_TRUE(testing::close(y, exact(x, weight, bias), 1e-5, 1)) << rows << " " << in << " " << out;
        }
      }
    }
  }
}

TEST(LinearMap, TakesInputsOfAnyShapeAndLayout) {
  c10::NoGradGuard no_grad;
  const auto weight = testing::noise({6, 8}, 2).t().contiguous().t();  // column after column
  const auto x = testing::noise({3, 8, 5}, 1).transpose(1, 2);         // 3×5×8
  for (const MatrixFormPtr& form : {MatrixFormPtr(), packed(weight)}) {
    const auto y = linear_map(x, weight, {}, form);
    EXPECT_EQ(y.sizes(), at::IntArrayRef({3, 5, 6}));
    EXPECT_TRUE(testing::close(y, exact(x, weight, {}), 1e-5, 1));
  }
}

TEST(LinearMap, APackedFormDoesNotChangeWithItsTensor) {
  c10::NoGradGuard no_grad;
  const auto x = testing::noise({2, 8}, 1), weight = testing::noise({4, 8}, 2);
  const auto form = packed(weight);
  const auto before = linear_map(x, weight, {}, form);
  weight.mul_(2);
  EXPECT_TRUE(at::equal(linear_map(x, weight, {}, form), before));
}

TEST(LinearMap, OnlyFloat32IsPacked) {
  EXPECT_THROW(PackedMatrix(at::zeros({2, 3}, at::kDouble)), InvalidInput);
}

TEST(LinearMap, FormsGiveNoGradients) {
  const auto x = testing::noise({2, 8}, 1), weight = testing::noise({4, 8}, 2);
  EXPECT_THROW(linear_map(x, weight, {}, packed(weight)), InvalidInput);
  for (const Quantization kind : {Quantization::int8, Quantization::bfloat16})
    EXPECT_THROW(linear_map(x, weight, {}, quantized_matrix(weight, kind)), InvalidInput);
}

TEST(LinearMap, Bfloat16EqualsTheFormulaOfRoundedWeights) {
  c10::NoGradGuard no_grad;
  for (const int64_t rows : {0, 1, 2, 7, 12, 97}) {
    for (const int64_t in : {1, 3, 64, 600}) {
      for (const int64_t out : {1, 16, 33, 64, 65, 200}) {
        const auto x = testing::noise({rows, in}, 1), weight = testing::noise({out, in}, 2);
        const auto rounded = weight.to(at::kBFloat16).to(at::kFloat);
        const auto form = quantized_matrix(weight, Quantization::bfloat16);
        for (const at::Tensor& bias : {at::Tensor(), testing::noise({out}, 3)}) {
          const auto y = linear_map(x, weight, bias, form);
          EXPECT_TRUE(testing::close(y, exact(x, rounded, bias), 1e-5, 1)) << rows << " " << in << " " << out;
          EXPECT_TRUE(testing::same_bits(y, linear_map(x, rounded, bias, packed(rounded))));
        }
        EXPECT_TRUE(at::equal(form->plain(), rounded));
      }
    }
  }
}

TEST(LinearMap, Bfloat16KeepsWhatIsNotFinite) {
  c10::NoGradGuard no_grad;
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const auto weight = at::tensor({inf, -inf, nan, 3e38f, -1e-40f, 0.f}).unsqueeze(1).repeat({4, 1});
  const auto form = quantized_matrix(weight, Quantization::bfloat16);
  const auto plain = weight.to(at::kBFloat16).to(at::kFloat);
  const auto y = linear_map(at::ones({1, 1}), weight, {}, form);
  EXPECT_TRUE(at::allclose(y, plain.t(), 0, 0, /*equal_nan=*/true));
}

TEST(LinearMap, QuantizedRowsAreThoseOfTheirMatrix) {
  c10::NoGradGuard no_grad;
  const auto rows = at::tensor({3, 0, 3, 6}, at::kLong).view({2, 2});
  for (const Quantization kind : {Quantization::int8, Quantization::bfloat16}) {
    const auto form = quantized_matrix(testing::noise({7, 5}, 1), kind);
    const auto found = form->rows(rows);
    EXPECT_EQ(found.sizes(), at::IntArrayRef({2, 2, 5}));
    EXPECT_TRUE(at::equal(found.view({4, 5}), form->plain().index_select(0, rows.flatten())));
    EXPECT_TRUE(at::equal(form->copy()->plain(), form->plain()));
    EXPECT_EQ(form->kind(), kind);
  }
}

TEST(LinearMap, Int8IsNearAndSmall) {
  c10::NoGradGuard no_grad;
  const auto x = testing::noise({9, 64}, 1), bias = testing::noise({40}, 3);
  const auto weight = testing::noise({40, 64}, 2) * at::linspace(0.01, 3, 40).unsqueeze(1);
  const auto form = quantized_matrix(weight, Quantization::int8);
  const auto parts = form->parts();
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].tensor.scalar_type(), at::kChar);
  EXPECT_EQ(parts[0].tensor.abs().amax().item<int>(), 127);
  // Half a step of each weight (127 steps to the largest of its row), and of each input (63 steps to its
  // row's).
  const auto wanted = exact(x, weight, bias), y = linear_map(x, weight, bias, form).to(at::kDouble);
  const auto error = (y - wanted).abs().amax(0), size = weight.abs().amax(1).to(at::kDouble);
  EXPECT_TRUE((error < 0.05 * size * 8).all().item<bool>()) << error / size;
  const auto rows = at::tensor({3, 0, 3}, at::kLong);
  EXPECT_TRUE(at::allclose(form->rows(rows), weight.index_select(0, rows), 0, 3.0 / 127));
  const auto step = weight.abs().amax(1, /*keepdim=*/true) / 127;
  EXPECT_TRUE(((form->plain() - weight).abs() <= 0.51 * step).all().item<bool>());
}

TEST(LinearMap, Int8TreatsEveryRowAlike) {
  c10::NoGradGuard no_grad;
  const auto weight = testing::noise({40, 64}, 2), bias = testing::noise({40}, 3);
  const MatrixFormPtr form = quantized_matrix(weight, Quantization::int8);
  // Rows of very different sizes: with one scale for all of them the small ones would be rounded away.
  const auto x = testing::noise({17, 64}, 1) * at::logspace(-4, 4, 17).unsqueeze(1);
  const auto together = linear_map(x, weight, bias, form);
  for (int64_t row = 0; row < x.size(0); ++row) {
    const auto alone = linear_map(x.narrow(0, row, 1), weight, bias, form);
    EXPECT_TRUE(testing::same_bits(together.narrow(0, row, 1), alone)) << row;
    EXPECT_TRUE(testing::close(alone - bias, exact(x.narrow(0, row, 1), weight, {}), 0.05, 0)) << row;
  }
}

TEST(LinearMap, ZerosSurviveInt8) {
  c10::NoGradGuard no_grad;
  const auto weight = at::zeros({3, 8});
  const auto full = testing::noise({3, 8}, 2), x = testing::noise({2, 8}, 1);
  auto int8 = [](const at::Tensor& matrix) { return quantized_matrix(matrix, Quantization::int8); };
  EXPECT_TRUE(at::equal(linear_map(x, weight, {}, int8(weight)), at::zeros({2, 3})));
  EXPECT_TRUE(at::equal(linear_map(at::zeros({2, 8}), full, {}, int8(full)), at::zeros({2, 3})));
}

}  // namespace
}  // namespace synthesizer
