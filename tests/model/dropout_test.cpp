#include "model/dropout.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "model/feed_forward.h"
#include "model/layer.h"

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

// model.activation_dropout: Tensor2Tensor's relu_dropout. Every unit gives the same, so that the output
// counts those that were kept.
TEST(DropOut, OfActivationsIsBehindTheReLU) {
  c10::NoGradGuard no_grad;
  ModelOptions options;
  options.width = 2;
  options.feed_forward = 1000;
  options.bias = false;
  options.activation_dropout = 0.25;
  FeedForward part(options);
  for (auto& parameter : part.parameters()) parameter.fill_(1);
  const auto x = at::full({5, 2}, 0.5);
  part.eval();
  EXPECT_TRUE(at::allclose(part.forward(x), at::full({5, 2}, 1000.0f)));
  part.train();
  at::manual_seed(6);
  const auto kept = part.forward(x) * 0.75;  // what is kept is divided by 0.75
  EXPECT_TRUE(at::allclose(kept, kept.round(), 1e-4, 1e-2));
  EXPECT_NEAR(kept.mean().item<double>(), 750, 40);
  EXPECT_FALSE(at::equal(kept[0], kept[1])) << "every row has a mask of its own";
  EXPECT_TRUE(at::equal(part.forward(at::full({5, 2}, -0.5)), at::zeros({5, 2})));
}

// model.attention_dropout works on self-attention of any kind and on cross-attention, in training alone, and
// without the other two.
TEST(DropOut, OfAttentionWeights) {
  c10::NoGradGuard no_grad;
  for (const char* attention : {"V", "R", "D", "R+V"}) {
    for (const bool cross : {false, true}) {
      ModelOptions options;
      options.width = 8;
      options.heads = 2;
      options.feed_forward = 8;
      options.max_length = 12;
      options.dropout = 0;
      options.attention_dropout = 0.5;
      Layer layer(options, attention, false, cross, "layer");
      const auto x = at::randn({2, 12, 8}), encoded = cross ? at::randn({2, 7, 8}) : at::Tensor();
      auto run = [&](uint64_t seed) {
        at::manual_seed(seed);
        return layer.forward(x, {}, {}, encoded, {});
      };
      layer.eval();
      EXPECT_TRUE(at::equal(run(1), run(2))) << attention;
      layer.train();
      EXPECT_TRUE(at::equal(run(1), run(1))) << attention;
      EXPECT_FALSE(at::allclose(run(1), run(2))) << attention;
    }
  }
}

}  // namespace
}  // namespace synthesizer
