// A layer that grows keeps what it has learnt: the same results for the lengths it knew, and room for longer
// ones.

#include <gmock/gmock.h>

#include "attention/gradient_check.h"
#include "attention/layers.h"
#include "attention/reference.h"

namespace synthesizer::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

AttentionOptions options(const std::string& spec, OptionMap given = {}) {
  return {.attention = spec,
          .width = 12,
          .heads = 3,
          .max_length = 16,
          .bias = true,
          .options = std::move(given)};
}

/// Grows the layer from 16 and compares it with what it was.
void expect_grows(Attention layer, int64_t max_length) {
  const std::string what = layer->options().attention + " to " + std::to_string(max_length);
  const auto x = noise({2, max_length, 12}, 2, layer->parameters()[0].scalar_type());
  const auto known = x.narrow(1, 0, 16), lengths = some_lengths(2, 16);
  const auto before = layer->forward(known), padded = layer->forward(known, lengths);
  std::vector<std::string> names, names_after;
  for (const auto& [name, tensor] : named_tensors(*layer)) names.push_back(name);
  layer->grow(max_length);
  for (const auto& [name, tensor] : named_tensors(*layer)) names_after.push_back(name);
  EXPECT_EQ(names_after, names) << what;
  EXPECT_EQ(layer->options().max_length, max_length) << what;
  EXPECT_TRUE(close(layer->forward(known), before, 1e-6)) << what;
  EXPECT_TRUE(close(layer->forward(known, lengths), padded, 1e-6)) << what << ", padded";
  EXPECT_TRUE(close(layer->forward(x), reference(layer, x).output, 1e-5)) << what << ", whole length";
  int64_t trained = 0;
  for (const auto& parameter : layer->parameters()) trained += parameter.numel();
  EXPECT_EQ(layer->mixer().count(max_length).total, trained) << what;
}

class Grow : public ::testing::TestWithParam<std::string> {};

TEST_P(Grow, keeps_results_for_the_lengths_it_knew) {
  for (int64_t max_length : {16, 17, 40, 100}) expect_grows(make_layer(options(GetParam())), max_length);
}

TEST_P(Grow, keeps_results_in_steps) {
  auto layer = make_layer(options(GetParam()));
  expect_grows(layer, 20);
  const auto x = noise({2, 20, 12}, 3), before = layer->forward(x);
  layer->grow(64);
  EXPECT_TRUE(close(layer->forward(x), before, 1e-6));
}

TEST_P(Grow, drops_gradients_and_can_be_trained_on) {
  auto layer = make_layer(options(GetParam()));
  layer->forward(noise({2, 16, 12}, 2)).sum().backward();
  layer->grow(30);
  for (const auto& item : layer->named_parameters())
    EXPECT_FALSE(item.value().grad().defined()) << item.key();
  layer->forward(noise({2, 30, 12}, 2)).square().sum().backward();
  for (const auto& item : layer->named_parameters()) {
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    EXPECT_EQ(item.value().grad().sizes(), item.value().sizes()) << item.key();
    EXPECT_TRUE(item.value().grad().isfinite().all().item<bool>()) << item.key();
  }
}

TEST_P(Grow, gives_the_formula_without_gradients) {
  auto layer = make_layer(options(GetParam()));
  layer->eval();
  torch::NoGradGuard no_grad;
  layer->forward(noise({2, 16, 12}, 2));
  layer->grow(30);
  const auto x = noise({2, 30, 12}, 3);
  EXPECT_TRUE(close(layer->forward(x), reference(layer, x).output, 1e-5));
}

TEST_P(Grow, keeps_the_dtype) {
  auto layer = converted(make_layer(options(GetParam())), at::kDouble);
  layer->grow(20);
  for (const auto& [name, tensor] : named_tensors(*layer))
    EXPECT_EQ(tensor.scalar_type(), at::kDouble) << name;
}

TEST_P(Grow, never_shrinks) {
  auto layer = make_layer(options(GetParam()));
  EXPECT_THAT([&] { layer->grow(15); },
              ::testing::ThrowsMessage<std::invalid_argument>(AllOf(HasSubstr("15"), HasSubstr("16"))));
  EXPECT_EQ(layer->options().max_length, 16);
}

INSTANTIATE_TEST_SUITE_P(All, Grow, ::testing::ValuesIn(all_specs()),
                         [](const auto& info) { return test_name(info.param); });

TEST(GrowOptions, are_kept) {
  expect_grows(make_layer(options("D", {{"hidden", int64_t{5}}, {"share_heads", true}})), 40);
  expect_grows(make_layer(options("D", {{"hidden", int64_t{0}}})), 40);
  expect_grows(make_layer(options("FR", {{"rank", int64_t{3}}})), 40);
  expect_grows(make_layer(options("R+V", {{"weights", std::string("learned-per-head")}})), 40);
}

TEST(GrowFactorizedDense, keeps_a_and_lets_b_follow) {
  for (int64_t a : {1, 3, 5, 16, 20}) expect_grows(make_layer(options("FD", {{"a", a}})), 100);
  for (int64_t b : {1, 3, 5, 16, 20}) expect_grows(make_layer(options("FD", {{"b", b}})), 100);
}

TEST(GrowFactorizedDense, keeps_a_b_that_was_larger_than_needed) {
  for (int64_t max_length : {16, 20, 100}) {
    expect_grows(make_layer(options("FD", {{"a", int64_t{4}}, {"b", int64_t{10}}})), max_length);
  }
}

TEST(GrowFactorizedDense, by_tiles_can_stay_as_it_is_but_not_grow) {
  auto layer =
      make_layer(options("FD", {{"tiling", std::string("tile")}, {"a", int64_t{3}}, {"b", int64_t{7}}}));
  expect_grows(layer, 16);
  EXPECT_THAT([&] { layer->grow(17); }, ::testing::ThrowsMessage<std::invalid_argument>(HasSubstr("tile")));
  EXPECT_EQ(layer->options().max_length, 16);
}

}  // namespace
}  // namespace synthesizer::testing
