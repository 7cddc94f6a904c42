// A quantized model says nearly what it said; what is not a linear map stays as it was.

#include "model/prepare.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "model/encoder_decoder.h"
#include "model/models.h"

namespace synthesizer {
namespace {

class Quantized : public ::testing::TestWithParam<const char*> {};

TEST_P(Quantized, SaysNearlyTheSame) {
  at::manual_seed(3);
  ModelOptions options;
  options.width = 64;
  options.heads = 4;
  options.layers = 2;
  options.feed_forward = 128;
  options.max_length = 16;
  options.attention = {GetParam()};
  EncoderDecoder model(options, 50, 50, true);
  model.eval();
  c10::NoGradGuard no_grad;
  const auto source = at::randint(50, {3, 12}, at::kLong), target = at::randint(50, {3, 10}, at::kLong);
  auto logits = [&] { return model.output().logits(model.decode(target, {}, model.encode(source, {}), {})); };
  const auto before = logits();
  EXPECT_FALSE(quantized(model));
  quantize(model, "int8");
  EXPECT_TRUE(quantized(model));
  const auto after = logits();
  EXPECT_LT((after - before).norm().item<double>(), 0.1 * before.norm().item<double>());
  quantize(model, "int8");  // nothing is left to do
  EXPECT_TRUE(at::equal(logits(), after));
}
INSTANTIATE_TEST_SUITE_P(Attentions, Quantized,
                         ::testing::Values("V", "D", "R", "FR", "FD", "R+V", "light-conv", "dynamic-conv"));

TEST(Quantize, KnowsItsKinds) {
  EncoderDecoder model(ModelOptions{}, 20, 20, true);
  EXPECT_THROW(quantize(model, "int4"), InvalidInput);
  EXPECT_FALSE(quantized(model));
}

}  // namespace
}  // namespace synthesizer
