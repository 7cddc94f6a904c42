// Each option of a variant, a mixture or the frame against the reference, forward and gradients.

#include "attention/gradient_check.h"
#include "attention/layers.h"
#include "attention/reference.h"

namespace synthesizer::testing {
namespace {

struct OptionCase {
  const char* name;
  AttentionOptions options;
};

AttentionOptions with(const std::string& spec, OptionMap options, bool bias = false) {
  return {.attention = spec,
          .width = 6,
          .heads = 2,
          .max_length = 12,
          .bias = bias,
          .options = std::move(options)};
}

const std::string kTile = "tile", kSum = "sum", kPerHead = "learned-per-head", kLearned = "learned";

std::vector<OptionCase> option_cases() {
  return {
      {"bias", with("V", {}, true)},
      {"bias_global", with("R", {}, true)},
      {"bias_mixture", with("FD+R", {}, true)},
      {"dense_hidden", with("D", {{"hidden", int64_t{5}}})},
      {"dense_no_hidden", with("D", {{"hidden", int64_t{0}}})},
      {"dense_share_heads", with("D", {{"share_heads", true}})},
      {"dense_share_heads_no_hidden", with("D", {{"share_heads", true}, {"hidden", int64_t{0}}})},
      {"dense_share_heads_mixture", with("D+V", {{"share_heads", true}, {"hidden", int64_t{1}}})},
      {"rank_one", with("FR", {{"rank", int64_t{1}}})},
      {"rank_three_mixture", with("FR+V", {{"rank", int64_t{3}}})},
      {"outer_a", with("FD", {{"a", int64_t{5}}})},
      {"outer_b", with("FD", {{"b", int64_t{5}}})},
      {"outer_a_one", with("FD", {{"a", int64_t{1}}})},
      {"outer_b_one", with("FD", {{"b", int64_t{1}}})},
      {"outer_a_b_larger_than_needed", with("FD", {{"a", int64_t{7}}, {"b", int64_t{9}}})},
      {"factorized_dense_no_hidden", with("FD", {{"hidden", int64_t{0}}})},
      {"factorized_dense_hidden", with("FD+V", {{"hidden", int64_t{4}}})},
      {"tile_coprime", with("FD", {{"tiling", kTile}, {"a", int64_t{3}}, {"b", int64_t{5}}})},
      {"tile_not_coprime", with("FD", {{"tiling", kTile}, {"a", int64_t{4}}, {"b", int64_t{6}}})},
      {"tile_mixture", with("FD+D+R", {{"tiling", kTile}, {"a", int64_t{4}}, {"b", int64_t{3}}})},
      {"sum", with("R+V", {{"weights", kSum}})},
      {"sum_of_all", with("V+D+R+FR+FD", {{"weights", kSum}})},
      {"learned_by_name", with("D+V", {{"weights", kLearned}})},
      {"per_head", with("R+V", {{"weights", kPerHead}})},
      {"per_head_global", with("Fix+R+FR", {{"weights", kPerHead}})},
      {"per_head_of_all", with("V+D+R+FR+FD", {{"weights", kPerHead}})},
  };
}

class Option : public ::testing::TestWithParam<OptionCase> {};

TEST_P(Option, equals_the_reference) {
  for (bool causal : {false, true}) {
    for (auto dtype : {at::kFloat, at::kDouble, at::kBFloat16}) {
      AttentionOptions options = GetParam().options;
      options.causal = causal;
      const auto layer = converted(make_layer(options), dtype);
      const auto x = noise({3, 11, 6}, 5, dtype);
      for (const auto& lengths : {at::Tensor(), some_lengths(3, 11)}) {
        const auto expected = reference(layer, x, lengths);
        EXPECT_TRUE(close(Attention(layer)->forward(x, lengths), expected.output, tolerance(dtype)));
        EXPECT_TRUE(close(layer->weights(x, lengths).expand_as(expected.weights), expected.weights,
                          tolerance(dtype)));
      }
    }
  }
}

TEST_P(Option, has_gradients_that_finite_differences_confirm) {
  for (bool causal : {false, true}) {
    AttentionOptions options = GetParam().options;
    options.causal = causal;
    check_gradients(make_layer(options), 2, 5, some_lengths(2, 5));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Option, ::testing::ValuesIn(option_cases()),
                         [](const auto& info) { return info.param.name; });

TEST(Option, bias_of_the_output_leaves_padded_rows_zero) {
  const auto layer = make_layer(with("R+V", {}, true));
  const auto y = Attention(layer)->forward(noise({2, 6, 6}, 6), at::tensor({6, 2}, at::kLong));
  EXPECT_TRUE(same_bits(y[1].narrow(0, 2, 4), at::zeros({4, 6})));
  EXPECT_GT(y[1][0].abs().max().item<float>(), 0);
}

TEST(Option, text_is_read_as_what_it_looks_like) {
  OptionMap options;
  options.parse("whole", "16");
  options.parse("negative", "-3");
  options.parse("real", "0.5");
  options.parse("small", "1e-3");
  options.parse("yes", "true");
  options.parse("no", "false");
  options.parse("text", "outer");
  EXPECT_EQ(options.integer("whole", 0), 16);
  EXPECT_EQ(options.integer("negative", 0), -3);
  EXPECT_EQ(options.real("real", 0), 0.5);
  EXPECT_EQ(options.real("small", 0), 1e-3);
  EXPECT_EQ(options.real("whole", 0), 16.0);
  EXPECT_TRUE(options.flag("yes", false));
  EXPECT_FALSE(options.flag("no", true));
  EXPECT_EQ(options.text("text", ""), "outer");
  EXPECT_EQ(options.integer("absent", 7), 7);
  EXPECT_FALSE(options.has("absent"));
}

}  // namespace
}  // namespace synthesizer::testing
