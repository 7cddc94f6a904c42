// One token at a time gives the rows of the whole sequence, through beams that are reordered, dropped and
// branched.

#include <gmock/gmock.h>

#include "attention/layers.h"

namespace synthesizer::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

AttentionOptions causal(const std::string& spec, int64_t max_length = 40) {
  return {.attention = spec, .width = 12, .heads = 3, .max_length = max_length, .causal = true};
}

class Decoding : public ::testing::TestWithParam<std::string> {};

TEST_P(Decoding, equals_the_whole_sequence) {
  for (auto dtype : {at::kFloat, at::kDouble, at::kBFloat16}) {
    auto layer = converted(make_layer(causal(GetParam())), dtype);
    const auto x = noise({3, 40, 12}, 2, dtype);
    const double allowed = dtype == at::kDouble ? 1e-12 : dtype == at::kFloat ? 1e-5 : 3e-2;
    const auto whole = layer->forward(x);
    EXPECT_TRUE(close(by_steps(layer, x), whole, allowed)) << dtype;
    EXPECT_TRUE(close(by_steps(layer, x), whole, allowed)) << dtype << ", a second time";
    layer->eval();
    EXPECT_TRUE(close(by_steps(layer, x), whole, allowed)) << dtype << ", not training";
  }
}

TEST_P(Decoding, with_biases_and_weights_a_head_equals_the_whole_sequence) {
  AttentionOptions options = causal(GetParam());
  options.bias = true;
  if (GetParam().find('+') != std::string::npos)
    options.options.set("weights", std::string("learned-per-head"));
  auto layer = make_layer(options);
  const auto x = noise({2, 20, 12}, 2);
  EXPECT_TRUE(close(by_steps(layer, x), layer->forward(x), 1e-5));
}

TEST_P(Decoding, of_reordered_beams_equals_decoding_them_from_the_start) {
  const auto layer = make_layer(causal(GetParam()));
  const auto x = noise({3, 36, 12}, 3);
  // Every ten steps: which beam each row goes on from. More rows, then fewer.
  const std::vector<std::vector<int64_t>> orders = {{2, 0, 0, 1}, {3, 3, 1}, {0, 2}};
  State state = layer->start(3);
  auto history = x.narrow(1, 0, 0);
  at::Tensor y;
  for (int64_t t = 0; t < 36; ++t) {
    if (t > 0 && t % 10 == 0) {
      const auto order = at::tensor(orders[t / 10 - 1], at::kLong);
      state.reorder(order);
      history = history.index_select(0, order);
      EXPECT_EQ(state.batch(), order.size(0));
      EXPECT_EQ(state.position(), t);
    }
    const auto token = noise({history.size(0), 12}, 100 + t);
    history = at::cat({history, token.unsqueeze(1)}, 1);
    y = layer->step(token, state);
  }
  EXPECT_TRUE(close(y, by_steps(layer, history).select(1, 35), 1e-6));
}

TEST_P(Decoding, of_a_copy_leaves_the_original_alone) {
  const auto layer = make_layer(causal(GetParam()));
  const auto x = noise({2, 12, 12}, 4), other = noise({2, 12, 12}, 5);
  State state = layer->start(2);
  for (int64_t t = 0; t < 6; ++t) layer->step(x.select(1, t), state);
  State branch = state.copy();
  at::Tensor in_branch, in_state;
  for (int64_t t = 6; t < 12; ++t) {
    in_branch = layer->step(other.select(1, t), branch);
    in_state = layer->step(x.select(1, t), state);
  }
  const auto branched = at::cat({x.narrow(1, 0, 6), other.narrow(1, 6, 6)}, 1);
  EXPECT_TRUE(close(in_state, by_steps(layer, x).select(1, 11), 1e-6));
  EXPECT_TRUE(close(in_branch, by_steps(layer, branched).select(1, 11), 1e-6));
}

TEST_P(Decoding, keeps_keys_only_where_tokens_meet) {
  const auto layer = make_layer(causal(GetParam()));
  State state = layer->start(2);
  layer->step(noise({2, 12}, 6), state);
  const bool with_vanilla = ("+" + GetParam() + "+").find("+V+") != std::string::npos;
  EXPECT_EQ(state.keys().defined(), with_vanilla);
  EXPECT_EQ(state.values().sizes(), (at::IntArrayRef{2, 3, 1, 4}));
}

TEST_P(Decoding, past_the_longest_length_is_an_error) {
  const auto layer = make_layer(causal(GetParam(), 3));
  State state = layer->start(1);
  for (int64_t t = 0; t < 3; ++t) layer->step(noise({1, 12}, t), state);
  EXPECT_THAT(
      [&] {
        layer->step(noise({1, 12}, 9), state);
      },
      ::testing::ThrowsMessage<std::invalid_argument>(AllOf(HasSubstr("4"), HasSubstr("max_length 3"))));
  EXPECT_EQ(state.position(), 3);
}

INSTANTIATE_TEST_SUITE_P(All, Decoding, ::testing::ValuesIn(all_specs()),
                         [](const auto& info) { return test_name(info.param); });

TEST(DecodingErrors, a_layer_that_is_not_causal_cannot_start) {
  const Attention layer(AttentionOptions{.attention = "R", .width = 8, .heads = 2, .max_length = 4});
  EXPECT_THAT([&] { layer->start(1); }, ::testing::ThrowsMessage<std::invalid_argument>(HasSubstr("causal")));
}

TEST(DecodingErrors, of_batch_and_shape) {
  const auto layer = make_layer(causal("V"));
  State state = layer->start(2);
  auto stepping = [&](const at::Tensor& x) { return [&, x] { layer->step(x, state); }; };
  EXPECT_THAT(stepping(noise({3, 12}, 1)),
              ::testing::ThrowsMessage<std::invalid_argument>(AllOf(HasSubstr("3"), HasSubstr("2"))));
  EXPECT_THAT(stepping(noise({2, 1, 12}, 1)),
              ::testing::ThrowsMessage<std::invalid_argument>(HasSubstr("2×1×12")));
  EXPECT_THAT(stepping(noise({2, 11}, 1)),
              ::testing::ThrowsMessage<std::invalid_argument>(HasSubstr("2×11")));
  EXPECT_THAT(stepping(noise({2, 12}, 1, at::kDouble)),
              ::testing::ThrowsMessage<std::invalid_argument>(HasSubstr("Double")));
  EXPECT_THAT([&] { layer->start(-1); }, ::testing::ThrowsMessage<std::invalid_argument>(HasSubstr("-1")));
  EXPECT_EQ(state.position(), 0);
}

TEST(DecodingErrors, of_reordering) {
  State state = make_layer(causal("V"))->start(2);
  EXPECT_THAT(
      [&] {
        state.reorder(at::tensor({0, 2}, at::kLong));
      },
      ::testing::ThrowsMessage<std::invalid_argument>(
          AllOf(HasSubstr("indices[1]"), HasSubstr("2"), HasSubstr("1"))));
  EXPECT_THROW(state.reorder(at::tensor({0, -1}, at::kLong)), std::invalid_argument);
  EXPECT_THROW(state.reorder(at::tensor({0, 1}, at::kInt)), std::invalid_argument);
  EXPECT_THROW(state.reorder(at::zeros({2, 1}, at::kLong)), std::invalid_argument);
  EXPECT_EQ(state.batch(), 2);
}

TEST(Decoding, of_an_empty_batch_gives_an_empty_row) {
  for (const auto& spec : all_specs()) {
    const auto layer = make_layer(causal(spec));
    State state = layer->start(0);
    EXPECT_EQ(layer->step(at::zeros({0, 12}), state).sizes(), (at::IntArrayRef{0, 12})) << spec;
  }
}

}  // namespace
}  // namespace synthesizer::testing
