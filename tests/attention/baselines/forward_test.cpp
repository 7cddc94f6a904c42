// Every baseline against its formula, forward and backward, with padding and without.

#include "attention/baselines/cases.h"
#include "attention/baselines/reference.h"
#include "attention/gradient_check.h"

namespace synthesizer::testing {
namespace {

class BaselineForward : public ::testing::TestWithParam<AttentionOptions> {};

TEST_P(BaselineForward, equals_the_formula) {
  const auto single = make_layer(GetParam());
  for (auto dtype : {at::kFloat, at::kDouble, at::kBFloat16}) {
    auto layer = converted(single, dtype);
    for (int64_t length : {1, 6, 16}) {
      const auto x = noise({3, length, 12}, 2, dtype), lengths = some_lengths(3, length);
      EXPECT_TRUE(close(layer->forward(x), baseline_reference(layer, x), tolerance(dtype)))
          << dtype << " " << length;
      EXPECT_TRUE(close(layer->forward(x, lengths), baseline_reference(layer, x, lengths), tolerance(dtype)))
          << dtype << " " << length << ", padded";
    }
  }
}

TEST_P(BaselineForward, has_the_gradients_of_finite_differences) {
  AttentionOptions options = GetParam();
  options.width = options.heads == 1 ? 3 : 6;
  options.heads = std::min<int64_t>(options.heads, 2);
  options.max_length = 5;
  if (options.options.has("rank")) options.options.set("rank", int64_t{3});
  if (options.options.has("groups")) options.options.set("groups", options.width);
  const auto layer = make_layer(options);
  check_gradients(layer, 2, 5);
  check_gradients(layer, 3, 4, some_lengths(3, 4));
}

TEST_P(BaselineForward, gives_a_sample_the_same_whoever_is_beside_it) {
  auto layer = make_layer(GetParam());
  const auto x = noise({3, 9, 12}, 2), lengths = at::tensor({9, 4, 0}, at::kLong);
  const auto together = layer->forward(x, lengths);
  for (int64_t b = 0; b < 2; ++b) {
    const int64_t length = lengths[b].item<int64_t>();
    const auto alone = layer->forward(x.narrow(0, b, 1).narrow(1, 0, length));
    EXPECT_TRUE(close(together.narrow(0, b, 1).narrow(1, 0, length), alone, 1e-6)) << b;
    EXPECT_EQ(together[b].narrow(0, length, 9 - length).abs().sum().item<double>(), 0) << b;
  }
  EXPECT_EQ(together[2].abs().max().item<double>(), 0);
}

TEST_P(BaselineForward, does_not_look_at_padding) {
  auto layer = make_layer(GetParam());
  const auto x = noise({2, 9, 12}, 2), lengths = at::tensor({9, 4}, at::kLong);
  auto strange = x.clone();
  strange[1].narrow(0, 4, 5).fill_(1e6);
  EXPECT_TRUE(same_bits(layer->forward(strange, lengths), layer->forward(x, lengths)));
}

TEST_P(BaselineForward, takes_empty_batches_and_sequences) {
  auto layer = make_layer(GetParam());
  EXPECT_EQ(layer->forward(at::zeros({0, 4, 12})).sizes(), (at::IntArrayRef{0, 4, 12}));
  EXPECT_EQ(layer->forward(at::zeros({2, 0, 12})).sizes(), (at::IntArrayRef{2, 0, 12}));
  EXPECT_EQ(layer->forward(at::zeros({2, 4, 12}), at::zeros({2}, at::kLong)).abs().sum().item<double>(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, BaselineForward, ::testing::ValuesIn(all_baselines()), baseline_name);

}  // namespace
}  // namespace synthesizer::testing
