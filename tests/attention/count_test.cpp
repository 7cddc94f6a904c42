// Counts: against the tensors that are there, against the paper's Table 1, and multiply-adds against formulas
// derived by hand.

#include "attention/layers.h"
#include "attention/multi_head_attention.h"

namespace synthesizer::testing {
namespace {

constexpr int64_t D = 24, H = 4, K = 6, N = 50;

MultiHeadAttention multi_head(const std::string& spec, OptionMap given = {}, bool bias = false) {
  return MultiHeadAttention({.attention = spec,
                             .width = D,
                             .heads = H,
                             .max_length = N,
                             .bias = bias,
                             .options = std::move(given)});
}

class CountOf : public ::testing::TestWithParam<std::string> {};

TEST_P(CountOf, equals_the_elements_of_the_trained_tensors) {
  for (bool bias : {false, true}) {
    const Attention layer(
        AttentionOptions{.attention = GetParam(), .width = D, .heads = H, .max_length = N, .bias = bias});
    int64_t total = 0, synthesis = 0;
    for (const auto& item : layer->named_parameters()) {
      total += item.value().numel();
      if (item.key().starts_with("logits.")) synthesis += item.value().numel();
    }
    const Count count = layer->mixer().count(N);
    EXPECT_EQ(count.total, total);
    EXPECT_EQ(count.synthesis, synthesis);
    EXPECT_EQ(count.total - count.synthesis, 2 * D * D + (bias ? 2 * D : 0));
  }
}

INSTANTIATE_TEST_SUITE_P(All, CountOf, ::testing::ValuesIn(all_specs()),
                         [](const auto& info) { return test_name(info.param); });

TEST(Count, of_each_variant_is_that_of_table_1_and_biases) {
  const int64_t a = 4, b = 13;  // the largest power of two ≤ sqrt(50), and 50 / 4 rounded up
  EXPECT_EQ(multi_head("V").count(N).synthesis, 2 * D * D);
  EXPECT_EQ(multi_head("D").count(N).synthesis, D * D + D * N + D + H * N);
  EXPECT_EQ(multi_head("R").count(N).synthesis, H * N * N);
  EXPECT_EQ(multi_head("Fix").count(N).synthesis, 0);
  EXPECT_EQ(multi_head("FR").count(N).synthesis, 2 * H * N * 8);
  EXPECT_EQ(multi_head("FD").count(N).synthesis, D * D + D * (a + b) + D + H * (a + b));
}

TEST(Count, of_options) {
  EXPECT_EQ(multi_head("D", {{"share_heads", true}}).count(N).synthesis, D * D + D + K * N + N);
  EXPECT_EQ(multi_head("D", {{"hidden", int64_t{0}}}).count(N).synthesis, H * D * N + H * N);
  EXPECT_EQ(multi_head("D", {{"hidden", int64_t{3}}}).count(N).synthesis,
            D * H * 3 + H * 3 + H * 3 * N + H * N);
  EXPECT_EQ(multi_head("FR", {{"rank", int64_t{3}}}).count(N).synthesis, 2 * H * N * 3);
  EXPECT_EQ(multi_head("FD", {{"a", int64_t{10}}}).count(N).synthesis, D * D + D + D * 15 + H * 15);
  EXPECT_EQ(multi_head("FD", {{"hidden", int64_t{0}}}).count(N).synthesis, H * D * 17 + H * 17);
}

TEST(Count, of_a_mixture_is_the_sum_and_its_weights) {
  const int64_t sum = 2 * D * D + H * N * N;
  EXPECT_EQ(multi_head("R+V").count(N).synthesis, sum + 2);
  EXPECT_EQ(multi_head("R+V", {{"weights", std::string("learned-per-head")}}).count(N).synthesis,
            sum + 2 * H);
  EXPECT_EQ(multi_head("R+V", {{"weights", std::string("sum")}}).count(N).synthesis, sum);
  EXPECT_EQ(multi_head("Fix+R+V").count(N).synthesis, sum + 3);
}

TEST(Count, of_parameters_does_not_depend_on_the_length) {
  EXPECT_EQ(multi_head("R+V").count(3).total, multi_head("R+V").count(N).total);
}

TEST(Count, of_the_papers_translation_model) {
  // 6 encoder and 6 decoder layers of 8 heads at length 256: random has 6.3M more than fixed random.
  const MultiHeadAttention random({.attention = "R", .width = 512, .heads = 8, .max_length = 256});
  EXPECT_EQ(12 * random.count(256).synthesis, 6291456);
}

TEST(Count, of_multiply_adds) {
  const int64_t L = 20, around = 2 * L * D * D + L * L * D;  // value, output; weights times values
  EXPECT_EQ(multi_head("V").count(L).macs, around + 2 * L * D * D + L * L * D);
  EXPECT_EQ(multi_head("D").count(L).macs, around + L * D * D + L * L * D);
  EXPECT_EQ(multi_head("R").count(L).macs, around);
  EXPECT_EQ(multi_head("Fix").count(L).macs, around);
  EXPECT_EQ(multi_head("FR").count(L).macs, around + H * L * L * 8);
  EXPECT_EQ(multi_head("FD").count(L).macs, around + L * D * D + L * D * 17 + H * L * L);
  EXPECT_EQ(multi_head("D", {{"hidden", int64_t{0}}}).count(L).macs, around + L * L * H * D);
  EXPECT_EQ(multi_head("D", {{"hidden", int64_t{3}}}).count(L).macs, around + L * D * H * 3 + L * L * H * 3);
  EXPECT_EQ(multi_head("FD", {{"hidden", int64_t{0}}}).count(L).macs, around + L * H * D * 17 + H * L * L);
  EXPECT_EQ(multi_head("R+V").count(L).macs, multi_head("V").count(L).macs);
  EXPECT_EQ(multi_head("D+V").count(L).macs,
            multi_head("D").count(L).macs + multi_head("V").count(L).macs - around);
  EXPECT_EQ(multi_head("V").count(0).macs, 0);
}

TEST(Count, of_a_length_that_cannot_be_is_an_error) {
  EXPECT_THROW(multi_head("V").count(N + 1), std::invalid_argument);
  EXPECT_THROW(multi_head("V").count(-1), std::invalid_argument);
}

TEST(Count, is_there_without_memory_for_the_tensors) {
  const MultiHeadAttention enormous({.attention = "R", .width = 65536, .heads = 64, .max_length = 1 << 20});
  EXPECT_EQ(enormous.count(1).synthesis, int64_t{64} << 40);
}

}  // namespace
}  // namespace synthesizer::testing
