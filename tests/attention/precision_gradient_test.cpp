// Gradients of the block code (float32 and bfloat16) against those of the plain path (float64), same
// parameters: sizes around and across the borders of blocks, padding, and few heads, where the batch is cut
// into groups.

#include "attention/layers.h"

namespace synthesizer::testing {
namespace {

struct GradientCase {
  std::string spec;
  bool causal, padded;
  int64_t batch, heads, width, length;
};

std::string gradient_name(const ::testing::TestParamInfo<GradientCase>& info) {
  const GradientCase& c = info.param;
  return test_name(c.spec + (c.causal ? "_causal" : "") + (c.padded ? "_padded" : "") + "_B" +
                   std::to_string(c.batch) + "_H" + std::to_string(c.heads) + "_L" +
                   std::to_string(c.length));
}

/// The gradients of a weighted sum of the output: that of x, then those of the parameters.
std::vector<std::pair<std::string, at::Tensor>> gradients(Attention layer, const at::Tensor& x,
                                                          const at::Tensor& lengths) {
  auto leaf = x.to(layer->parameters()[0].scalar_type()).clone().set_requires_grad(true);
  auto y = layer->forward(leaf, lengths);
  (y * noise(y.sizes(), 21).to(y.scalar_type())).sum().backward();
  std::vector<std::pair<std::string, at::Tensor>> all = {{"x", leaf.grad()}};
  for (const auto& item : layer->named_parameters()) all.emplace_back(item.key(), item.value().grad());
  return all;
}

void compare(const GradientCase& c, at::ScalarType dtype, double allowed) {
  const auto layer = converted(make_layer({.attention = c.spec,
                                           .width = c.width,
                                           .heads = c.heads,
                                           .max_length = c.length + 3,
                                           .causal = c.causal}),
                               dtype);
  const auto x = noise({c.batch, c.length, c.width}, 20, dtype);
  const auto lengths = c.padded ? some_lengths(c.batch, c.length) : at::Tensor();
  const auto expected = gradients(converted(layer, at::kDouble), x, lengths);
  const auto actual = gradients(layer, x, lengths);
  // In bfloat16 what large terms leave when they cancel has their error.
  const double floor = dtype == at::kBFloat16 ? 1 : 0.1;
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(close(actual[i].second, expected[i].second, allowed, floor))
        << "gradient of " << expected[i].first;
  }
}

class PrecisionGradient : public ::testing::TestWithParam<GradientCase> {};

TEST_P(PrecisionGradient, in_float32_equals_float64) {
  compare(GetParam(), at::kFloat, 2e-5);
}

std::vector<GradientCase> gradient_cases() {
  std::vector<GradientCase> all;
  for (bool causal : {false, true}) {
    for (bool padded : {false, true}) {
      for (const auto& spec : all_specs()) all.push_back({spec, causal, padded, 4, 3, 12, 33});
      for (const char* spec : {"V", "D", "R", "FR", "FD", "D+V", "FD+R", "R+FR", "V+D+R+FR+FD"}) {
        all.push_back({spec, causal, padded, 5, 1, 4, 150});
        all.push_back({spec, causal, padded, 2, 2, 8, 530});
        all.push_back({spec, causal, padded, 1, 1, 8, 65});
      }
      for (int64_t length : {47, 48, 49, 96, 97, 512, 513}) {
        all.push_back({"V+D+R+FR+FD", causal, padded, 2, 1, 4, length});
        all.push_back({"R", causal, padded, 2, 1, 4, length});
      }
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, PrecisionGradient, ::testing::ValuesIn(gradient_cases()), gradient_name);

class BFloat16Gradient : public ::testing::TestWithParam<std::string> {};

TEST_P(BFloat16Gradient, is_near_float64) {
  compare({GetParam(), false, false, 2, 2, 8, 20}, at::kBFloat16, 6e-2);
  compare({GetParam(), true, true, 3, 2, 8, 20}, at::kBFloat16, 6e-2);
}

INSTANTIATE_TEST_SUITE_P(All, BFloat16Gradient, ::testing::ValuesIn(all_specs()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace synthesizer::testing
