// Gradients of every variant and mixture by finite differences, in double.

#include "attention/gradient_check.h"
#include "attention/layers.h"

namespace synthesizer::testing {
namespace {

class Gradient : public ::testing::TestWithParam<std::string> {};

TEST_P(Gradient, agrees_with_finite_differences) {
  for (bool causal : {false, true}) {
    const auto layer =
        make_layer({.attention = GetParam(), .width = 6, .heads = 2, .max_length = 7, .causal = causal});
    check_gradients(layer, 2, 5);
    check_gradients(layer, 3, 6, some_lengths(3, 6));
    check_gradients(layer, 1, 1);
  }
}

TEST_P(Gradient, reaches_every_parameter_and_no_buffer) {
  auto layer = make_layer({.attention = GetParam(), .width = 6, .heads = 2, .max_length = 7});
  layer->forward(noise({2, 7, 6}, 8)).square().sum().backward();
  for (const auto& item : layer->named_parameters()) {
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    EXPECT_GT(item.value().grad().abs().max().item<float>(), 0) << item.key();
  }
  for (const auto& item : layer->named_buffers()) EXPECT_FALSE(item.value().requires_grad()) << item.key();
}

INSTANTIATE_TEST_SUITE_P(All, Gradient, ::testing::ValuesIn(all_specs()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace synthesizer::testing
