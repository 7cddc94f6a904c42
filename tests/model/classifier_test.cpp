// A classifier's vector, and one layer applied several times, against the parts they are made of.

#include "model/classifier.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "model/language_model.h"
#include "model/models.h"

namespace synthesizer::testing {
namespace {

class PoolingOfTokens : public ::testing::TestWithParam<std::string> {};

TEST_P(PoolingOfTokens, IsTheMeanOfRealTokensOrTheFirst) {
  at::manual_seed(1);
  ModelOptions options = small_model("R+V");
  options.pooling = choose<Pooling>("pooling", GetParam());
  Classifier model(options, kVocabulary, 3);
  model.eval();
  c10::NoGradGuard no_grad;
  const auto tokens = at::randint(kVocabulary, {2, 7}, at::kLong);
  const auto lengths = at::tensor({7, 4}, at::kLong);
  const auto together = model.forward(tokens, lengths);
  EXPECT_EQ(together.sizes(), (std::vector<int64_t>{2, 16}));
  EXPECT_EQ(model.classes().sizes(), (std::vector<int64_t>{3, 16}));
  // The shorter text alone, without padding.
  EXPECT_TRUE(at::allclose(model.forward(tokens.narrow(0, 1, 1).narrow(1, 0, 4)), together.narrow(0, 1, 1),
                           1e-4, 1e-5));
}
INSTANTIATE_TEST_SUITE_P(All, PoolingOfTokens, ::testing::Values("mean", "first"));

TEST(Classifier, EveryParameterLearns) {
  at::manual_seed(1);
  Classifier model(small_model("D"), kVocabulary, 3);
  at::linear(model.forward(at::randint(kVocabulary, {2, 5}, at::kLong)), model.classes())
      .square()
      .sum()
      .backward();
  for (const auto& parameter : model.named_parameters()) {
    EXPECT_TRUE(parameter.value().grad().defined() && parameter.value().grad().abs().sum().item<double>() > 0)
        << parameter.key();
  }
}

TEST(RecurrentDepth, HasTheParametersOfOneLayer) {
  ModelOptions once = small_model();
  once.layers = 1;
  ModelOptions thrice = small_model();
  thrice.recurrent_depth = 3;
  auto names = [](const torch::nn::Module& model) { return model.named_parameters().keys(); };
  EXPECT_EQ(names(LanguageModel(once, kVocabulary)), names(LanguageModel(thrice, kVocabulary)));
  thrice.positions = PositionKind::learned;
  EXPECT_TRUE(LanguageModel(thrice, kVocabulary).named_parameters().contains("decoder.times"));
}

TEST(RecurrentDepth, IsTheLayerAppliedAgainWithTimesAndPositions) {
  at::manual_seed(2);
  ModelOptions options = small_model("V");
  options.recurrent_depth = 3;
  Stack stack(options, Side::encoder, false);
  stack.eval();
  c10::NoGradGuard no_grad;
  const auto x = at::randn({2, 5, 16});
  const auto positions = sinusoids(5, 16), times = sinusoids(3, 16);
  auto y = x;
  for (int64_t n = 0; n < 3; ++n) y = stack.layers()[0]->forward(y + positions + times[n], {}, {});
  const auto norm = at::layer_norm(y, {16}, stack.named_parameters()["norm.weight"],
                                   stack.named_parameters()["norm.bias"], 1e-5);
  EXPECT_TRUE(at::allclose(stack.forward(x, {}), norm, 1e-5, 1e-5));
}

TEST(RecurrentDepth, HasOneAttention) {
  ModelOptions options = small_model();
  options.recurrent_depth = 2;
  options.attention = {"V", "R"};
  EXPECT_THROW(check(options), InvalidInput);
}

}  // namespace
}  // namespace synthesizer::testing
