// A quantized model says nearly what it said; what is not a linear map stays as it was.

#include "model/prepare.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "model/encoder_decoder.h"
#include "model/models.h"

namespace synthesizer {
namespace {

class Quantized : public ::testing::TestWithParam<std::tuple<const char*, Quantization>> {};

TEST_P(Quantized, SaysNearlyTheSame) {
  at::manual_seed(3);
  ModelOptions options;
  options.width = 64;
  options.heads = 4;
  options.layers = 2;
  options.feed_forward = 128;
  options.max_length = 16;
  const auto [attention, kind] = GetParam();
  options.attention = {attention};
  EncoderDecoder model(options, 50, 50, true);
  model.eval();
  c10::NoGradGuard no_grad;
  const auto source = at::randint(50, {3, 12}, at::kLong), target = at::randint(50, {3, 10}, at::kLong);
  auto logits = [&] { return model.output().logits(model.decode(target, {}, model.encode(source, {}), {})); };
  const auto before = logits();
  EXPECT_FALSE(quantization(model));
  quantize(model, kind);
  EXPECT_EQ(quantization(model), kind);
  const auto after = logits();
  const double near = kind == Quantization::int8 ? 0.1 : 0.01;
  EXPECT_LT((after - before).norm().item<double>(), near * before.norm().item<double>());
  EXPECT_FALSE(at::equal(after, before));
  quantize(model, kind);  // nothing is left to do
  EXPECT_TRUE(at::equal(logits(), after));
  prepare_for_inference(model);
  EXPECT_EQ(quantization(model), kind);
}
INSTANTIATE_TEST_SUITE_P(Attentions, Quantized,
                         ::testing::Combine(::testing::Values("V", "D", "R", "FR", "FD", "R+V", "light-conv",
                                                              "dynamic-conv"),
                                            ::testing::Values(Quantization::int8, Quantization::bfloat16)));

}  // namespace
}  // namespace synthesizer
