// The product under every projection: packed weights give what LibTorch gives and notice when the weights
// change; int8 weights are near them, a quarter of the size, and not to be trained.

#include "attention/linear_map.h"

#include "attention/layers.h"
#include "attention/weight_form.h"
#include "base/error.h"

namespace synthesizer {
namespace {

at::Tensor exact(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  const auto y = at::matmul(x.to(at::kDouble), weight.to(at::kDouble).t());
  return bias.defined() ? y + bias.to(at::kDouble) : y;
}

TEST(LinearMap, PackedEqualsTheFormula) {
  c10::NoGradGuard no_grad;
  const PackWeights packing;
  for (const int64_t rows : {0, 1, 2, 5, 7, 12, 97, 200}) {
    for (const int64_t in : {1, 3, 64}) {
      for (const int64_t out : {1, 16, 63, 64, 65, 200}) {
        const auto x = testing::noise({rows, in}, 1), weight = testing::noise({out, in}, 2);
        for (const at::Tensor& bias : {at::Tensor(), testing::noise({out}, 3)}) {
          const auto y = linear_map(x, weight, bias);
          ASSERT_TRUE(form_of(weight));
          EXPECT_TRUE(testing::close(y, exact(x, weight, bias), 1e-5, 1)) << rows << " " << in << " " << out;
        }
      }
    }
  }
}

TEST(LinearMap, TakesInputsOfAnyShapeAndLayout) {
  c10::NoGradGuard no_grad;
  const PackWeights packing;
  const auto weight = testing::noise({6, 8}, 2).t().contiguous().t();  // column after column
  const auto x = testing::noise({3, 8, 5}, 1).transpose(1, 2);         // 3×5×8
  const auto y = linear_map(x, weight, {});
  EXPECT_EQ(y.sizes(), at::IntArrayRef({3, 5, 6}));
  EXPECT_TRUE(testing::close(y, exact(x, weight, {}), 1e-5, 1));
}

TEST(LinearMap, PacksOnlyWhereAsked) {
  const auto x = testing::noise({2, 8}, 1), weight = testing::noise({4, 8}, 2);
  {
    c10::NoGradGuard no_grad;
    linear_map(x, weight);
    EXPECT_FALSE(form_of(weight));  // nobody asked
  }
  const PackWeights packing;
  linear_map(x, weight);
  EXPECT_FALSE(form_of(weight));  // gradients might be wanted
}

TEST(LinearMap, NoticesNewWeights) {
  const PackWeights packing;
  const auto x = testing::noise({2, 8}, 1);
  auto weight = testing::noise({4, 8}, 2);
  {
    c10::NoGradGuard no_grad;
    linear_map(x, weight);
    weight.mul_(2);
    EXPECT_TRUE(testing::close(linear_map(x, weight), exact(x, weight, {}), 1e-5, 1));
    weight.set_data(testing::noise({4, 8}, 5));
    EXPECT_TRUE(testing::close(linear_map(x, weight), exact(x, weight, {}), 1e-5, 1));
  }
  linear_map(x, weight);  // a call that may want gradients: an optimizer that counts no versions may follow
  EXPECT_FALSE(form_of(weight));
}

TEST(LinearMap, Int8IsNearAndSmall) {
  c10::NoGradGuard no_grad;
  const auto x = testing::noise({9, 64}, 1), bias = testing::noise({40}, 3);
  const auto before = testing::noise({40, 64}, 2) * at::linspace(0.01, 3, 40).unsqueeze(1);
  const auto weight = before.clone();
  const auto form = quantize_int8(weight);
  EXPECT_EQ(form->quantized().scalar_type(), at::kChar);
  EXPECT_EQ(form->quantized().abs().amax().item<int>(), 127);
  replace_by_int8(weight, form);
  EXPECT_EQ(weight.sizes(), before.sizes());
  EXPECT_EQ(weight.storage().nbytes(), sizeof(float));
  EXPECT_TRUE(weight.isnan().all().item<bool>());
  // Half a step of each weight (127 steps to the largest of its row), and of each input (127 steps in all).
  const auto wanted = exact(x, before, bias), y = linear_map(x, weight, bias).to(at::kDouble);
  const auto error = (y - wanted).abs().amax(0), size = before.abs().amax(1).to(at::kDouble);
  EXPECT_TRUE((error < 0.05 * size * 8).all().item<bool>()) << error / size;
  const auto rows = at::tensor({3, 0, 3}, at::kLong);
  EXPECT_TRUE(at::allclose(look_up(weight, rows), before.index_select(0, rows), 0, 3.0 / 127));
}

TEST(LinearMap, ZeroRowsSurviveInt8) {
  c10::NoGradGuard no_grad;
  const auto weight = at::zeros({3, 8});
  replace_by_int8(weight, quantize_int8(weight));
  EXPECT_TRUE(at::equal(linear_map(testing::noise({2, 8}, 1), weight), at::zeros({2, 3})));
}

TEST(LinearMap, Int8IsNotTrained) {
  const auto weight = testing::noise({4, 8}, 2);
  replace_by_int8(weight, quantize_int8(weight));
  EXPECT_THROW(linear_map(testing::noise({2, 8}, 1), weight), InvalidInput);
}

}  // namespace
}  // namespace synthesizer
