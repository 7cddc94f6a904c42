// Every variant and mixture against the reference: masks, padding, dtypes, lengths, and sizes that need
// several blocks of the kernel.

#include "attention/layers.h"
#include "attention/reference.h"

namespace synthesizer::testing {
namespace {

struct ForwardCase {
  std::string spec;
  bool causal, padded;
  at::ScalarType dtype;
  int64_t batch, heads, width, length, max_length;
};

std::string forward_name(const ::testing::TestParamInfo<ForwardCase>& info) {
  const ForwardCase& c = info.param;
  return test_name(c.spec + (c.causal ? "_causal" : "") + (c.padded ? "_padded_" : "_") +
                   c10::toString(c.dtype) + "_H" + std::to_string(c.heads) + "_L" + std::to_string(c.length));
}

class Forward : public ::testing::TestWithParam<ForwardCase> {};

TEST_P(Forward, equals_the_reference) {
  const ForwardCase& c = GetParam();
  const auto layer = converted(make_layer({.attention = c.spec,
                                           .width = c.width,
                                           .heads = c.heads,
                                           .max_length = c.max_length,
                                           .causal = c.causal}),
                               c.dtype);
  const auto x = noise({c.batch, c.length, c.width}, 2, c.dtype);
  const auto lengths = c.padded ? some_lengths(c.batch, c.length) : at::Tensor();
  const auto expected = reference(layer, x, lengths);
  const double allowed = tolerance(c.dtype);
  const auto y = Attention(layer)->forward(x, lengths);
  EXPECT_EQ(y.scalar_type(), c.dtype);
  EXPECT_TRUE(close(y, expected.output, allowed));
  torch::NoGradGuard no_grad;
  Attention(layer)->eval();  // another path: weights may be kept
  EXPECT_TRUE(close(Attention(layer)->forward(x, lengths), expected.output, allowed));
}

std::vector<ForwardCase> small_cases() {
  std::vector<ForwardCase> cases;
  for (const auto& spec : all_specs())
    for (bool causal : {false, true})
      for (bool padded : {false, true})
        for (auto dtype : {at::kFloat, at::kBFloat16, at::kDouble})
          for (int64_t length : {1, 2, 7, 16})
            cases.push_back({spec, causal, padded, dtype, 3, 3, 12, length, 16});
  return cases;
}

std::vector<ForwardCase> one_head_cases() {
  std::vector<ForwardCase> cases;
  for (const auto& spec : all_specs())
    for (bool causal : {false, true}) cases.push_back({spec, causal, true, at::kFloat, 4, 1, 5, 11, 13});
  return cases;
}

/// Several blocks of rows and of columns (512).
std::vector<ForwardCase> large_cases() {
  std::vector<ForwardCase> cases;
  for (const char* spec : {"V", "D", "R", "FR", "FD", "D+V", "R+FR", "V+D+R+FR+FD"})
    for (bool causal : {false, true})
      for (bool padded : {false, true}) {
        cases.push_back({spec, causal, padded, at::kFloat, 2, 2, 8, 150, 160});
        if (causal == padded) cases.push_back({spec, causal, padded, at::kFloat, 2, 1, 4, 700, 700});
        cases.push_back({spec, causal, padded, at::kDouble, 2, 2, 8, 150, 160});
      }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Small, Forward, ::testing::ValuesIn(small_cases()), forward_name);
INSTANTIATE_TEST_SUITE_P(OneHead, Forward, ::testing::ValuesIn(one_head_cases()), forward_name);
INSTANTIATE_TEST_SUITE_P(Large, Forward, ::testing::ValuesIn(large_cases()), forward_name);

TEST(Forward, of_padded_samples_ignores_what_the_padding_holds) {
  for (const auto& spec : all_specs()) {
    for (bool causal : {false, true}) {
      const auto layer =
          make_layer({.attention = spec, .width = 8, .heads = 2, .max_length = 9, .causal = causal});
      const auto lengths = at::tensor({9, 4, 0}, at::kLong);
      auto x = noise({3, 9, 8}, 3), other = x.clone();
      other[1].narrow(0, 4, 5).fill_(50);
      other[2].fill_(-50);
      const auto y = Attention(layer)->forward(x, lengths);
      EXPECT_TRUE(same_bits(Attention(layer)->forward(other, lengths), y)) << spec;
      EXPECT_TRUE(same_bits(y[1].narrow(0, 4, 5), at::zeros({5, 8}))) << spec;
      EXPECT_TRUE(same_bits(y[2], at::zeros({9, 8}))) << spec;
    }
  }
}

TEST(Forward, of_a_causal_layer_ignores_later_tokens) {
  for (const auto& spec : all_specs()) {
    const auto layer =
        make_layer({.attention = spec, .width = 8, .heads = 2, .max_length = 9, .causal = true});
    auto x = noise({2, 9, 8}, 4), other = x.clone();
    other.narrow(1, 5, 4).fill_(9);
    const auto y = Attention(layer)->forward(x), changed = Attention(layer)->forward(other);
    EXPECT_TRUE(close(changed.narrow(1, 0, 5), y.narrow(1, 0, 5), 1e-6)) << spec;
    EXPECT_FALSE(close(changed.narrow(1, 5, 4), y.narrow(1, 5, 4), 1e-3)) << spec;
  }
}

TEST(Forward, of_an_empty_batch_or_of_no_tokens_is_empty) {
  for (const auto& spec : all_specs()) {
    for (auto dtype : {at::kFloat, at::kDouble}) {
      const auto layer =
          converted(make_layer({.attention = spec, .width = 8, .heads = 2, .max_length = 9}), dtype);
      EXPECT_EQ(Attention(layer)->forward(at::zeros({0, 5, 8}, dtype)).sizes(), (at::IntArrayRef{0, 5, 8}))
          << spec;
      EXPECT_EQ(Attention(layer)->forward(at::zeros({2, 0, 8}, dtype)).sizes(), (at::IntArrayRef{2, 0, 8}))
          << spec;
      torch::NoGradGuard no_grad;
      Attention(layer)->eval();
      EXPECT_EQ(Attention(layer)->forward(at::zeros({2, 0, 8}, dtype)).sizes(), (at::IntArrayRef{2, 0, 8}))
          << spec;
    }
  }
}

}  // namespace
}  // namespace synthesizer::testing
