// Convolutions decode one token at a time, with a memory as long as their kernel.

#include "attention/baselines/cases.h"

namespace synthesizer::testing {
namespace {

class BaselineDecoding : public ::testing::TestWithParam<AttentionOptions> {};

TEST_P(BaselineDecoding, equals_the_whole_sequence) {
  const auto single = make_layer(GetParam());
  for (auto dtype : {at::kFloat, at::kDouble, at::kBFloat16}) {
    auto layer = converted(single, dtype);
    const auto x = noise({3, 16, 12}, 2, dtype);
    EXPECT_TRUE(close(by_steps(layer, x), layer->forward(x), tolerance(dtype))) << dtype;
  }
}

TEST_P(BaselineDecoding, is_possible_since_no_position_sees_later_ones) {
  auto layer = make_layer(GetParam());
  auto x = noise({2, 16, 12}, 2);
  const auto before = layer->forward(x);
  x.narrow(1, 9, 7).add_(1);
  EXPECT_TRUE(same_bits(layer->forward(x).narrow(1, 0, 9), before.narrow(1, 0, 9)));
}

TEST_P(BaselineDecoding, follows_beams_that_are_reordered_and_branched) {
  const auto layer = make_layer(GetParam());
  auto history = noise({3, 7, 12}, 3);
  State state = layer->start(3);
  for (int64_t t = 0; t < 7; ++t) layer->step(history.select(1, t), state);
  const auto order = at::tensor({2, 0, 0, 1}, at::kLong);
  State branch = state.copy();
  state.reorder(order);
  EXPECT_EQ(state.batch(), 4);
  EXPECT_EQ(state.position(), 7);
  const auto next = noise({4, 12}, 4), other = noise({3, 12}, 5);
  const auto y = layer->step(next, state), in_branch = layer->step(other, branch);
  auto with = [](const at::Tensor& past, const at::Tensor& token) {
    return at::cat({past, token.unsqueeze(1)}, 1);
  };
  EXPECT_TRUE(close(y, by_steps(layer, with(history.index_select(0, order), next)).select(1, 7), 1e-6));
  EXPECT_TRUE(close(in_branch, by_steps(layer, with(history, other)).select(1, 7), 1e-6));
}

TEST_P(BaselineDecoding, remembers_no_more_than_the_kernel_reaches) {
  const auto layer = make_layer(GetParam());
  const int64_t taps = layer->options().options.integer("kernel", 7);
  State state = layer->start(2);
  for (int64_t t = 0; t < 16; ++t) {
    layer->step(noise({2, 12}, t), state);
    EXPECT_EQ(state.window().size(1), std::min(t + 1, taps - 1));
    EXPECT_LE(state.window().storage().nbytes(), static_cast<size_t>(2 * taps * 12) * sizeof(float));
  }
  EXPECT_FALSE(state.keys().defined());
}

TEST_P(BaselineDecoding, ends_at_max_length) {
  const auto layer = make_layer(GetParam());
  State state = layer->start(1);
  for (int64_t t = 0; t < 16; ++t) layer->step(noise({1, 12}, t), state);
  EXPECT_THROW(layer->step(noise({1, 12}, 9), state), std::invalid_argument);
  EXPECT_EQ(state.position(), 16);
}

TEST_P(BaselineDecoding, of_an_empty_batch_gives_an_empty_row) {
  const auto layer = make_layer(GetParam());
  State state = layer->start(0);
  EXPECT_EQ(layer->step(at::zeros({0, 12}), state).sizes(), (at::IntArrayRef{0, 12}));
}

INSTANTIATE_TEST_SUITE_P(Causal, BaselineDecoding, ::testing::ValuesIn(convolutions(true)), baseline_name);

}  // namespace
}  // namespace synthesizer::testing
