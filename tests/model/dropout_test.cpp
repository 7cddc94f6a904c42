#include "model/dropout.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace synthesizer {
namespace {

TEST(DropOut, DropsAsOftenAsAskedAndScalesTheRest) {
  at::manual_seed(1);
  const auto y = drop_out(at::ones({200, 50}), 0.3, true);
  EXPECT_NEAR(y.eq(0).to(at::kFloat).mean().item<double>(), 0.3, 0.02);
  EXPECT_TRUE(at::allclose(y.masked_select(y.ne(0)), at::scalar_tensor(1 / 0.7)));
}

TEST(DropOut, IsNothingOutsideTraining) {
  const auto x = at::randn({3, 4});
  EXPECT_TRUE(at::equal(drop_out(x, 0.5, false), x));
  EXPECT_TRUE(at::equal(drop_out(x, 0, true), x));
}

TEST(DropOut, SendsGradientsThroughWhatWasKept) {
  at::manual_seed(2);
  auto x = at::ones({8, 33}).requires_grad_();
  const auto y = drop_out(x, 0.4, true);
  y.sum().backward();
  EXPECT_TRUE(at::equal(x.grad(), y.detach()));  // of ones both are the mask
}

TEST(DropOut, DependsOnTheGeneratorAlone) {
  auto draw = [](uint64_t seed) {
    at::manual_seed(seed);
    return drop_out(at::ones({40, 16}), 0.5, true);
  };
  EXPECT_TRUE(at::equal(draw(3), draw(3)));
  EXPECT_FALSE(at::equal(draw(3), draw(4)));
}

TEST(DropOut, TakesAnyShapeAndLayoutAndPrecision) {
  at::manual_seed(5);
  EXPECT_EQ(drop_out(at::ones({0, 4}), 0.5, true).numel(), 0);
  EXPECT_EQ(drop_out(at::ones({3}), 0.5, true).sizes(), at::IntArrayRef({3}));
  const auto turned = at::arange(12).to(at::kFloat).view({3, 4}).t();
  const auto y = drop_out(turned, 0.5, true);
  EXPECT_TRUE(at::logical_or(y.eq(0), y.eq(turned * 2)).all().item<bool>());
  EXPECT_EQ(drop_out(at::ones({2, 2}, at::kBFloat16), 0.5, true).scalar_type(), at::kBFloat16);
}

}  // namespace
}  // namespace synthesizer
