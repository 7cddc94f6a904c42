// The weights that can be looked at: their shape, that they are weights, and that they are those forward
// uses.

#include "attention/heads.h"
#include "attention/layers.h"
#include "attention/reference.h"

namespace synthesizer::testing {
namespace {

class WeightsOf : public ::testing::TestWithParam<std::string> {
 protected:
  static bool looks_at_no_token() {
    std::stringstream members(GetParam());
    for (std::string member; std::getline(members, member, '+');) {
      if (member != "R" && member != "Fix" && member != "FR") return false;
    }
    return true;
  }
  static AttentionOptions options(bool causal) {
    return {.attention = GetParam(), .width = 12, .heads = 3, .max_length = 16, .causal = causal};
  }
};

TEST_P(WeightsOf, a_batch_have_its_shape_or_that_of_one_sample) {
  const auto layer = make_layer(options(false));
  const auto x = noise({4, 9, 12}, 2);
  EXPECT_EQ(layer->weights(x).sizes(), (at::IntArrayRef{looks_at_no_token() ? 1 : 4, 3, 9, 9}));
  EXPECT_EQ(layer->weights(x, some_lengths(4, 9)).sizes(), (at::IntArrayRef{4, 3, 9, 9}));
  EXPECT_EQ(layer->mixer().global(), looks_at_no_token());
}

TEST_P(WeightsOf, a_row_sum_to_one_and_padding_has_none) {
  for (bool causal : {false, true}) {
    const auto layer = make_layer(options(causal));
    const auto x = noise({3, 9, 12}, 2), lengths = at::tensor({9, 4, 0}, at::kLong);
    EXPECT_TRUE(close(layer->weights(x).sum(-1), at::ones({looks_at_no_token() ? 1 : 3, 3, 9}), 1e-6));
    const auto padded = layer->weights(x, lengths);
    EXPECT_GE(padded.min().item<float>(), 0);
    for (int64_t b = 0; b < 3; ++b) {
      const int64_t n = lengths[b].item<int64_t>();
      EXPECT_TRUE(close(padded[b].narrow(1, 0, n).sum(-1), at::ones({3, n}), 1e-6));
      EXPECT_EQ(padded[b].narrow(1, n, 9 - n).abs().sum().item<float>(), 0) << "padded rows";
      EXPECT_EQ(padded[b].narrow(2, n, 9 - n).abs().sum().item<float>(), 0) << "padded columns";
    }
    if (!causal) continue;
    EXPECT_EQ(layer->weights(x).triu(1).abs().sum().item<float>(), 0);
  }
}

TEST_P(WeightsOf, a_layer_equal_the_reference_and_reproduce_forward) {
  for (bool causal : {false, true}) {
    for (auto dtype : {at::kFloat, at::kDouble, at::kBFloat16}) {
      const auto layer = converted(make_layer(options(causal)), dtype);
      const auto x = noise({3, 16, 12}, 2, dtype);
      for (const auto& lengths : {at::Tensor(), some_lengths(3, 16)}) {
        const auto weights = layer->weights(x, lengths);
        EXPECT_EQ(weights.scalar_type(), dtype);
        const auto expected = reference(layer, x, lengths);
        EXPECT_TRUE(close(weights.expand_as(expected.weights), expected.weights, tolerance(dtype)));
        const auto named = layer->named_parameters();
        const auto value = split_heads(at::linear(x, named["value.weight"]), 3);
        const auto y = at::linear(join_heads(at::matmul(weights, value)), named["output.weight"]);
        EXPECT_TRUE(close(y, Attention(layer)->forward(x, lengths), tolerance(dtype)));
      }
    }
  }
}

TEST_P(WeightsOf, a_layer_are_the_same_with_dropout_and_while_training) {
  AttentionOptions dropping = options(false);
  dropping.dropout = 0.5;
  const auto x = noise({2, 9, 12}, 2);
  EXPECT_TRUE(same_bits(make_layer(dropping)->weights(x), make_layer(options(false))->weights(x)));
}

TEST_P(WeightsOf, a_layer_can_be_differentiated) {
  const auto layer = make_layer(options(false));
  const auto weights = layer->weights(noise({2, 9, 12}, 2));
  if (weights.requires_grad()) weights.square().sum().backward();
  double sum = 0;
  for (const auto& item : layer->named_parameters()) {
    if (item.key().starts_with("logits.") && item.value().grad().defined())
      sum += item.value().grad().abs().sum().item<double>();
  }
  EXPECT_EQ(sum > 0, GetParam() != "Fix");
}

INSTANTIATE_TEST_SUITE_P(All, WeightsOf, ::testing::ValuesIn(all_specs()),
                         [](const auto& info) { return test_name(info.param); });

TEST(Dropout, is_there_in_training_alone_and_follows_the_seed) {
  for (const auto& spec : all_specs()) {
    AttentionOptions options{.attention = spec, .width = 12, .heads = 3, .max_length = 16, .dropout = 0.5};
    auto layer = make_layer(options);
    options.dropout = 0;
    const auto x = noise({2, 16, 12}, 2), without = make_layer(options)->forward(x);
    at::manual_seed(5);
    const auto once = layer->forward(x), then = layer->forward(x);
    at::manual_seed(5);
    EXPECT_TRUE(same_bits(layer->forward(x), once)) << spec;
    EXPECT_FALSE(close(then, once, 1e-2)) << spec << ": every call draws its own mask";
    EXPECT_FALSE(close(once, without, 1e-2)) << spec;
    layer->eval();
    EXPECT_TRUE(same_bits(layer->forward(x), without)) << spec;
    torch::NoGradGuard no_grad;
    EXPECT_TRUE(close(layer->forward(x), without, 1e-6)) << spec;
    layer->train();
    EXPECT_FALSE(close(layer->forward(x), without, 1e-2)) << spec << ": training without gradients drops too";
  }
}

}  // namespace
}  // namespace synthesizer::testing
