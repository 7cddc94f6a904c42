// Step by step equals the whole pass, for every kind of model; rows never meet; windows slide.

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include "model/encoder_decoder.h"
#include "model/language_model.h"
#include "model/models.h"
#include "model/sliding_steps.h"

namespace synthesizer {
namespace {

using testing::kVocabulary;

class EveryModel : public ::testing::TestWithParam<ModelOptions> {
 protected:
  void SetUp() override { at::manual_seed(3); }
  at::Tensor tokens(int64_t rows, int64_t length) {
    return at::randint(kVocabulary, {rows, length}, at::kLong);
  }
};

TEST_P(EveryModel, LanguageModelStepsEqualTheWholePass) {
  LanguageModel model(GetParam(), kVocabulary);
  model.eval();
  c10::NoGradGuard no_grad;
  const auto fed = tokens(3, 12);
  const auto whole = model.output().logits(model.forward(fed));
  const auto steps = model.start(3);
  for (int64_t t = 0; t < 12; ++t) {
    EXPECT_TRUE(at::allclose(steps->step(fed.select(1, t)), whole.select(1, t), 1e-4, 1e-4)) << "step " << t;
  }
}

TEST_P(EveryModel, TranslationStepsEqualTheWholePass) {
  EncoderDecoder model(GetParam(), kVocabulary, kVocabulary, true);
  model.eval();
  c10::NoGradGuard no_grad;
  const auto source = tokens(3, 9), target = tokens(3, 8);
  const auto lengths = at::tensor({9, 4, 1}, at::kLong);
  const auto encoded = model.encode(source, lengths);
  const auto whole = model.output().logits(model.decode(target, {}, encoded, lengths));
  const auto steps = model.start(encoded, lengths);
  for (int64_t t = 0; t < 8; ++t) {
    EXPECT_TRUE(at::allclose(steps->step(target.select(1, t)), whole.select(1, t), 1e-4, 1e-4))
        << "step " << t;
  }
}

TEST_P(EveryModel, ReorderedRowsGoOnFromTheirNewPast) {
  EncoderDecoder model(GetParam(), kVocabulary, kVocabulary, true);
  model.eval();
  c10::NoGradGuard no_grad;
  const auto source = tokens(2, 5), target = tokens(2, 4);
  const auto encoded = model.encode(source, {});
  const auto steps = model.start(encoded, {});
  for (int64_t t = 0; t < 3; ++t) steps->step(target.select(1, t));
  steps->reorder(at::tensor({1, 1, 0}, at::kLong));
  EXPECT_EQ(steps->rows(), 3);
  const auto next = at::tensor({4, 7, 7}, at::kLong);
  const auto logits = steps->step(next);
  const auto past = target.narrow(1, 0, 3).index_select(0, at::tensor({1, 1, 0}, at::kLong));
  const auto whole = model.decode(at::cat({past, next.unsqueeze(1)}, 1), {},
                                  encoded.index_select(0, at::tensor({1, 1, 0}, at::kLong)), {});
  EXPECT_TRUE(at::allclose(logits, model.output().logits(whole.select(1, 3)), 1e-4, 1e-4));
}

TEST_P(EveryModel, BeamsShareTheirSentenceWhateverBecomesOfThem) {
  EncoderDecoder model(GetParam(), kVocabulary, kVocabulary, true);
  model.eval();
  c10::NoGradGuard no_grad;
  const auto lengths = at::tensor({6, 2, 4}, at::kLong);
  const auto encoded = model.encode(tokens(3, 6), lengths);
  const auto steps = model.start(encoded, lengths);
  auto past = at::empty({3, 0}, at::kLong), sentence = at::arange(3, at::kLong);
  // Beams begin, change places, lose a sentence, are uneven, and end as one.
  const std::vector<std::vector<int64_t>> moves = {{0, 0, 0, 1, 1, 1, 2, 2, 2},
                                                   {2, 0, 0, 3, 5, 5, 8, 7, 6},
                                                   {3, 3, 4, 8, 6, 6},
                                                   {0, 0, 1, 5},
                                                   {3, 0, 2, 1, 1},
                                                   {4}};
  for (const auto& move : moves) {
    const auto next = at::randint(kVocabulary, {past.size(0)}, at::kLong);
    past = at::cat({past, next.unsqueeze(1)}, 1);
    const auto whole =
        model.decode(past, {}, encoded.index_select(0, sentence), lengths.index_select(0, sentence));
    const auto last = model.output().logits(whole.select(1, past.size(1) - 1));
    EXPECT_TRUE(at::allclose(steps->step(next), last, 1e-4, 1e-4)) << "step " << past.size(1);
    const auto rows = at::tensor(move, at::kLong);
    steps->reorder(rows);
    past = past.index_select(0, rows);
    sentence = sentence.index_select(0, rows);
  }
}

TEST_P(EveryModel, PaddingChangesNothing) {
  EncoderDecoder model(GetParam(), kVocabulary, kVocabulary, true);
  model.eval();
  c10::NoGradGuard no_grad;
  const auto source = tokens(2, 9), target = tokens(2, 7);
  const auto sources = at::tensor({9, 5}, at::kLong), targets = at::tensor({7, 3}, at::kLong);
  const auto both = model.decode(target, targets, model.encode(source, sources), sources);
  const auto second = model.decode(target.narrow(0, 1, 1).narrow(1, 0, 3), {},
                                   model.encode(source.narrow(0, 1, 1).narrow(1, 0, 5), {}), {});
  EXPECT_TRUE(at::allclose(both.narrow(0, 1, 1).narrow(1, 0, 3), second, 1e-4, 1e-4));
}

TEST_P(EveryModel, EveryParameterLearns) {
  EncoderDecoder model(GetParam(), kVocabulary, kVocabulary, true);
  const auto source = tokens(2, 9), target = tokens(2, 7);
  const auto hidden = model.decode(target, {}, model.encode(source, {}), {});
  at::log_softmax(model.output().logits(hidden), -1).select(-1, 3).sum().backward();
  for (const auto& item : model.named_parameters()) {
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    EXPECT_TRUE(item.value().grad().isfinite().all().item<bool>()) << item.key();
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryModel, ::testing::ValuesIn(testing::kinds_of_models()),
                         [](const auto& info) { return "kind" + std::to_string(info.index); });

TEST(SlidingSteps, GoOnPastTheEndFromTheLatterHalf) {
  at::manual_seed(4);
  LanguageModel model(testing::small_model("R+V"), kVocabulary);
  model.eval();
  c10::NoGradGuard no_grad;
  SlidingSteps steps([&](int64_t rows) { return model.start(rows); }, 2);
  const auto fed = at::randint(kVocabulary, {2, 13}, at::kLong);
  at::Tensor last;
  for (int64_t t = 0; t < 13; ++t) last = steps.step(fed.select(1, t));
  // Positions 0 … 11 are full; the 13th token is seen after the latter six.
  const auto whole = model.output().logits(model.forward(fed.narrow(1, 6, 7)).select(1, 6));
  EXPECT_TRUE(at::allclose(last, whole, 1e-4, 1e-4));
}

}  // namespace
}  // namespace synthesizer
