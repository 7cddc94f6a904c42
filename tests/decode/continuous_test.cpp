// Sentences and texts that join and leave at any step get what they get alone.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <optional>
#include <span>

#include "decode/greedy.h"
#include "decode/greedy_sentence.h"
#include "decode/markov_model.h"
#include "decode/sample.h"
#include "decode/sampled_text.h"
#include "model/sliding_steps.h"

namespace synthesizer::testing {
namespace {

struct Sentence {
  int64_t begin, limit;
  DecodeOptions options;
};

const std::vector<Sentence> kSentences = {
    {0, 12, {.beam = 1}},
    {0, 0, {.beam = 1}},
    {1, 20, {.beam = 1, .length_penalty = 1, .length_normalization = LengthNormalization::gnmt}},
    {3, 15, {.beam = 1, .min_length = 4}},
    {4, 15, {.beam = 1, .no_repeat_ngram = 2}},
    {9, 5, {.beam = 1}},
    {2, 4, {.beam = 1, .forced_end = false}},
};

TEST(GreedySentences, GetWhatEachGetsAlone) {
  const int64_t vocabulary = 5, count = static_cast<int64_t>(kSentences.size());
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const auto tables = random_tables(count, vocabulary, seed);
    std::vector<std::optional<MarkovModel>> models(kSentences.size());
    std::vector<GreedySentence> sentences;
    for (int64_t n = 0; n < count; ++n) {
      const Sentence& s = kSentences[static_cast<size_t>(n)];
      models[static_cast<size_t>(n)].emplace(tables.narrow(0, n, 1));
      sentences.emplace_back(kOtherBegin, s.limit, s.options);
    }
    for (int64_t step = 0; step < 40; ++step) {
      std::vector<at::Tensor> logits;
      std::vector<GreedySentence*> active;
      for (size_t n = 0; n < sentences.size(); ++n) {
        if (kSentences[n].begin > step || sentences[n].done()) continue;
        logits.push_back(models[n]->step(at::tensor({sentences[n].next()}, at::kLong)));
        active.push_back(&sentences[n]);
      }
      if (!active.empty()) advance_greedily(at::cat(logits), kEnd, -1, active);
    }
    for (int64_t n = 0; n < count; ++n) {
      const auto own = static_cast<size_t>(n);
      ASSERT_TRUE(sentences[own].done());
      MarkovModel alone(tables.narrow(0, n, 1));
      const auto expected =
          greedy_search(alone, kOtherBegin, kEnd, {kSentences[own].limit}, kSentences[own].options);
      expect_same({sentences[own].result()}, expected[0]);
    }
  }
}

TEST(SampledTexts, GetWhatEachGetsAloneAlsoWhereWindowsSlide) {
  const int64_t vocabulary = 7;
  const auto tables = random_tables(1, vocabulary, 3);
  for (const int64_t max_length : {3, 4, 9, 1000}) {
    for (const auto& [prompt, tokens, end] :
         {std::tuple(std::vector<int64_t>{2}, int64_t{30}, int64_t{-1}),
          std::tuple(std::vector<int64_t>{2, 3, 4, 5, 1, 1, 6, 2, 3, 4, 5, 6}, int64_t{20}, int64_t{-1}),
          std::tuple(std::vector<int64_t>{1, 2}, int64_t{50}, int64_t{0}),
          std::tuple(std::vector<int64_t>{1, 2}, int64_t{0}, int64_t{0})}) {
      const DecodeOptions options{.temperature = 0.7, .top_k = 5, .seed = 11};
      auto start = [&](int64_t) { return std::make_unique<MarkovModel>(tables, max_length); };
      SlidingSteps alone(start, 1);
      const auto expected = sample(alone, {prompt}, tokens, end, options);
      SampledText text(prompt, tokens, end, max_length, options);
      std::unique_ptr<MarkovModel> model;
      while (!text.done()) {
        const auto feed = text.feed();
        if (feed.restart) model = start(1);
        const auto logits = model->step(at::tensor({feed.token}, at::kLong)).contiguous();
        if (feed.wanted) text.draw_token({logits.const_data_ptr<float>(), static_cast<size_t>(vocabulary)});
      }
      EXPECT_EQ(text.drawn(), expected[0]) << max_length << " positions, " << tokens << " tokens";
      EXPECT_EQ(text.ended(), static_cast<int64_t>(text.drawn().size()) < tokens);
    }
  }
}

}  // namespace
}  // namespace synthesizer::testing
