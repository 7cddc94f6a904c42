// Baselines as layers: names, counts, dropout, growing, copies, what they print, and what is refused.

#include "attention/baselines.h"

#include <gmock/gmock.h>

#include "attention/baselines/cases.h"
#include "attention/baselines/reference.h"
#include "base/error.h"

namespace synthesizer::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class BaselineModule : public ::testing::TestWithParam<AttentionOptions> {};

TEST_P(BaselineModule, counts_what_is_there) {
  const Attention layer(GetParam());
  int64_t total = 0;
  for (const auto& parameter : layer->parameters()) total += parameter.numel();
  EXPECT_EQ(layer->mixer().count(16).total, total);
  EXPECT_EQ(layer->mixer().count(0).macs, 0);
  EXPECT_EQ(layer->mixer().supports_bias(), false);
}

TEST_P(BaselineModule, grows_and_keeps_its_results) {
  auto layer = make_layer(GetParam());
  const auto x = noise({2, 40, 12}, 2), known = x.narrow(1, 0, 16), before = layer->forward(known);
  layer->grow(40);
  EXPECT_EQ(layer->options().max_length, 40);
  EXPECT_TRUE(close(layer->forward(known), before, 1e-6));
  EXPECT_TRUE(close(layer->forward(x), baseline_reference(layer, x), 1e-5));
  EXPECT_THROW(layer->grow(39), std::invalid_argument);
  layer->grow(64);
  EXPECT_TRUE(close(layer->forward(known), before, 1e-6));
}

TEST_P(BaselineModule, is_cloned_into_one_of_its_own) {
  auto layer = make_layer(GetParam());
  auto copy = Attention(std::dynamic_pointer_cast<AttentionImpl>(layer->clone()));
  const auto x = noise({2, 9, 12}, 2), before = layer->forward(x);
  EXPECT_TRUE(same_bits(copy->forward(x), before));
  {
    torch::NoGradGuard no_grad;
    for (auto& parameter : copy->parameters()) parameter.add_(0.5);
  }
  EXPECT_TRUE(same_bits(layer->forward(x), before));
}

TEST_P(BaselineModule, drops_in_training_alone_and_keeps_the_mean) {
  AttentionOptions options = GetParam();
  options.dropout = 0.3;
  auto layer = make_layer(options);
  const auto x = noise({1, 8, 12}, 2);
  layer->eval();
  const auto expected = layer->forward(x);
  EXPECT_TRUE(close(expected, baseline_reference(layer, x), 1e-5));
  layer->train();
  torch::NoGradGuard no_grad;
  at::manual_seed(1);
  const auto once = layer->forward(x);
  EXPECT_FALSE(close(once, expected, 1e-3));
  at::manual_seed(1);
  EXPECT_TRUE(same_bits(layer->forward(x), once));
  auto sum = at::zeros_like(expected);
  constexpr int kDraws = 2000;
  for (int n = 0; n < kDraws; ++n) sum += layer->forward(x);
  // One kernel of one tap is kept or lost as a whole: a standard deviation of 0.65 of the result.
  EXPECT_TRUE(close(sum / kDraws, expected, 0.08));
}

TEST_P(BaselineModule, has_no_weights_and_takes_no_bias) {
  auto layer = make_layer(GetParam());
  const auto x = noise({2, 4, 12}, 1);
  EXPECT_THAT([&] { layer->weights(x); }, ThrowsMessage<InvalidInput>(HasSubstr("no attention weights")));
  EXPECT_THAT(
      [&] {
        layer->forward(x, {}, at::zeros({3, 4, 4}));
      },
      ThrowsMessage<InvalidInput>(HasSubstr("no logits")));
}

INSTANTIATE_TEST_SUITE_P(All, BaselineModule, ::testing::ValuesIn(all_baselines()), baseline_name);

TEST(Baselines, are_listed_with_their_traits) {
  std::vector<std::string> names;
  for (const Baseline& baseline : baselines()) {
    names.push_back(baseline.name);
    EXPECT_FALSE(baseline.help.empty());
    for (const OptionInfo& option : baseline.options)
      EXPECT_FALSE(option.allowed.empty() || option.help.empty());
  }
  EXPECT_THAT(names, ElementsAre("light-conv", "dynamic-conv", "linformer"));
}

TEST(Baselines, have_stable_names) {
  auto names = [](AttentionOptions options) {
    std::vector<std::string> all;
    const Attention layer(std::move(options));
    for (const auto& item : layer->named_parameters()) {
      std::string shape;
      for (int64_t size : item.value().sizes()) shape += "x" + std::to_string(size);
      all.push_back(item.key() + " " + shape.substr(1));
    }
    return all;
  };
  EXPECT_THAT(
      names(baseline("light-conv:5")),
      ::testing::UnorderedElementsAre("glu.weight 24x12", "output.weight 12x12", "kernel.weight 3x5"));
  AttentionOptions biased = baseline("Dynamic-Conv");
  biased.bias = true;
  EXPECT_THAT(names(biased),
              ::testing::UnorderedElementsAre("glu.weight 24x12", "glu.bias 24", "output.weight 12x12",
                                              "output.bias 12", "kernel.weight 21x12"));
  EXPECT_THAT(
      names(baseline("dynamic-conv:5", false, {{"groups", 12}})),
      ::testing::UnorderedElementsAre("glu.weight 24x12", "output.weight 12x12", "kernel.weight 60x12"));
  EXPECT_THAT(
      names(baseline("linformer:4", false, {{"share_heads", false}})),
      ::testing::UnorderedElementsAre("query.weight 12x12", "key.weight 12x12", "value.weight 12x12",
                                      "output.weight 12x12", "project.key 3x4x16", "project.value 3x4x16"));
  EXPECT_THAT(names(baseline("linformer", false, {{"share_kv", true}})),
              ::testing::UnorderedElementsAre("query.weight 12x12", "key.weight 12x12", "value.weight 12x12",
                                              "output.weight 12x12", "project.key 16x16"));
}

TEST(Baselines, count_by_their_formulas) {
  constexpr int64_t D = 12, H = 3, L = 10, W = 5, N = 16, k = 4;
  auto count = [](const AttentionOptions& options) { return make_mixer(options)->count(L); };
  const Count light = count(baseline("light-conv:5")), dynamic = count(baseline("dynamic-conv:5")),
              linformer = count(baseline("linformer:4"));
  EXPECT_EQ(light.synthesis, H * W);
  EXPECT_EQ(light.total, 3 * D * D + H * W);
  EXPECT_EQ(light.macs, 3 * L * D * D + L * D * W);
  EXPECT_EQ(dynamic.synthesis, D * H * W);
  EXPECT_EQ(dynamic.macs, light.macs + L * D * H * W);
  const Count channels = count(baseline("dynamic-conv:5", false, {{"groups", D}}));
  EXPECT_EQ(channels.synthesis, D * D * W);
  EXPECT_EQ(channels.total, 3 * D * D + D * D * W);
  EXPECT_EQ(channels.macs, light.macs + L * D * D * W);
  EXPECT_EQ(count(baseline("light-conv:5", false, {{"groups", 6}})).synthesis, 6 * W);
  EXPECT_EQ(linformer.synthesis, 2 * D * D + 2 * k * N);
  EXPECT_EQ(linformer.total, 4 * D * D + 2 * k * N);
  EXPECT_EQ(linformer.macs, 4 * L * D * D + 4 * L * D * k);
}

TEST(Baselines, print_what_they_are) {
  std::ostringstream text;
  Attention(baseline("Light-Conv:15", true))->pretty_print(text);
  EXPECT_EQ(text.str(), "synthesizer::Attention(light-conv:15, width=12, heads=3, max_length=16, causal)");
}

TEST(Baselines, refuse_what_cannot_be) {
  auto refused = [](const AttentionOptions& options, const auto& message) {
    EXPECT_THAT([&] { Attention layer(options); }, ThrowsMessage<InvalidInput>(message)) << options.attention;
  };
  refused(baseline("light-conv:0"), AllOf(HasSubstr("'kernel' is 0"), HasSubstr("at least 1")));
  refused(baseline("light-conv:-3", true), HasSubstr("'kernel' is -3"));
  refused(baseline("dynamic-conv:4"), AllOf(HasSubstr("4"), HasSubstr("odd")));
  refused(baseline("light-conv:wide"),
          AllOf(HasSubstr("'light-conv:wide'"), HasSubstr("kernel"), HasSubstr("whole number")));
  refused(baseline("light-conv:"), HasSubstr("whole number"));
  refused(baseline("light-conv:15", false, {{"kernel", 7}}),
          AllOf(HasSubstr("15"), HasSubstr("7"), HasSubstr("disagree")));
  refused(baseline("light-conv", false, {{"kernel", "x"}}),
          AllOf(HasSubstr("kernel"), HasSubstr("a whole number")));
  refused(baseline("light-conv", false, {{"kernal", 7}}),
          AllOf(HasSubstr("light-conv has no option 'kernal'"), HasSubstr("did you mean 'kernel'")));
  refused(baseline("light-conv", false, {{"rank", 7}}), HasSubstr("it takes: kernel"));
  refused(baseline("linformer", true),
          AllOf(HasSubstr("linformer cannot be causal"), HasSubstr("causal = false")));
  refused(baseline("linformer:0"), AllOf(HasSubstr("'rank' is 0"), HasSubstr("1 to max_length 16")));
  refused(baseline("linformer:17"), AllOf(HasSubstr("'rank' is 17"), HasSubstr("1 to max_length 16")));
  refused(baseline("linformer", false, {{"share_kv", 1}}), HasSubstr("true or false"));
  for (const char* mixture :
       {"R+light-conv", "light-conv+R", "V+linformer:4", "light-conv+dynamic-conv", "light-conv:3+R"}) {
    refused(baseline(mixture), AllOf(HasSubstr(mixture), HasSubstr("cannot be a member of a mixture")));
  }
  refused(baseline("light-cov"), AllOf(HasSubstr("did you mean 'light-conv'?"), HasSubstr("linformer")));
  refused(baseline("R:5"), HasSubstr("unknown attention 'R:5'"));
}

TEST(Baselines, that_are_not_causal_do_not_decode) {
  EXPECT_THAT([] { Attention(baseline("light-conv"))->start(1); },
              ThrowsMessage<InvalidInput>(HasSubstr("causal")));
  const Attention linformer(baseline("linformer"));
  State forged(1, 4, &linformer->mixer());  // its own start() would refuse
  EXPECT_THAT(
      [&] {
        linformer->step(noise({1, 12}, 1), forged);
      },
      ThrowsMessage<InvalidInput>(HasSubstr("never causal")));
}

}  // namespace
}  // namespace synthesizer::testing
