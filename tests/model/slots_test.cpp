// Texts that begin and end at different times: each has exactly the bits that it has alone.

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include <optional>

#include "model/encoder_decoder.h"
#include "model/language_model.h"
#include "model/models.h"
#include "model/prepare.h"

namespace synthesizer {
namespace {

using testing::kVocabulary;

/// A text, when it begins, and how many tokens it has.
struct Text {
  int64_t begin, length, source_length;
};

// More texts than slots; one begins in a slot that another has left; all lengths differ.
const std::vector<Text> kTexts = {{0, 9, 7}, {0, 4, 3}, {2, 12, 9}, {5, 6, 1}, {6, 3, 9}, {9, 5, 4}};
constexpr int64_t kSlots = 4;

class Slots : public ::testing::TestWithParam<std::tuple<ModelOptions, std::optional<Quantization>>> {
 protected:
  /// With widths that vectors divide: LibTorch computes what is left over at the end of all rows (GELU, the
  /// gates of convolutions) with other code, so that its bits would depend on the number of rows.
  static ModelOptions options() {
    ModelOptions all = std::get<0>(GetParam());
    all.width = 32;
    all.feed_forward = 64;
    return all;
  }

  void SetUp() override {
    at::manual_seed(5);
    for (const Text& text : kTexts) {
      tokens_.push_back(at::randint(kVocabulary, {text.length}, at::kLong));
      const auto source = at::randint(kVocabulary, {text.source_length}, at::kLong);
      const int64_t* ids = source.const_data_ptr<int64_t>();
      sources_.emplace_back(ids, ids + source.numel());
    }
  }

  template <class Model>
  void ready(Model& model) {
    if (const auto kind = std::get<1>(GetParam())) quantize(model, *kind);
    prepare_for_inference(model);
  }

  /// The logits of every step of each text alone.
  static std::vector<at::Tensor> alone(StepModel& steps, const at::Tensor& tokens) {
    std::vector<at::Tensor> logits;
    for (int64_t t = 0; t < tokens.size(0); ++t) logits.push_back(steps.step(tokens.narrow(0, t, 1)));
    return logits;
  }

  /// Runs all texts through the slots, `begin` being called with the texts that begin and their slots, and
  /// compares each step with the text alone.
  template <class Begin>
  void together(SlotSteps& slots, const std::vector<std::vector<at::Tensor>>& expected, const Begin& begin) {
    std::vector<std::optional<size_t>> holds(kSlots);
    std::vector<size_t> waiting;
    size_t finished = 0;
    for (int64_t step = 0; finished < kTexts.size(); ++step) {
      ASSERT_LT(step, 100);
      for (size_t n = 0; n < kTexts.size(); ++n) {
        if (kTexts[n].begin == step) waiting.push_back(n);
      }
      std::vector<size_t> beginners;
      std::vector<int64_t> places;
      for (int64_t slot = kSlots - 1; slot >= 0 && !waiting.empty(); --slot) {  // not in the texts' order
        if (holds[slot]) continue;
        holds[slot] = waiting.front();
        beginners.push_back(waiting.front());
        places.push_back(slot);
        waiting.erase(waiting.begin());
      }
      if (!beginners.empty()) begin(beginners, places);
      std::vector<int64_t> active, fed, wanted;
      for (int64_t slot = 0; slot < kSlots; ++slot) {
        if (!holds[slot]) continue;
        active.push_back(slot);
        fed.push_back(tokens_[*holds[slot]][slots.position(slot)].item<int64_t>());
        if ((step + slot) % 5 != 4) wanted.push_back(static_cast<int64_t>(active.size()) - 1);
      }
      std::vector<int64_t> positions;
      for (const int64_t slot : active) positions.push_back(slots.position(slot));
      const auto logits = slots.step(active, fed, wanted);
      ASSERT_EQ(logits.size(0), static_cast<int64_t>(wanted.size()));
      for (size_t i = 0; i < wanted.size(); ++i) {
        const auto row = static_cast<size_t>(wanted[i]);
        const size_t text = *holds[active[row]];
        EXPECT_TRUE(at::equal(logits[static_cast<int64_t>(i)], expected[text][positions[row]][0]))
            << "text " << text << " at position " << positions[row];
      }
      for (const int64_t slot : active) {
        if (slots.position(slot) < kTexts[*holds[slot]].length) continue;
        holds[slot].reset();
        ++finished;
      }
    }
  }

  std::vector<at::Tensor> tokens_;
  std::vector<std::vector<int64_t>> sources_;
};

TEST_P(Slots, LanguageModelHasTheBitsOfEachTextAlone) {
  LanguageModel model(options(), kVocabulary);
  ready(model);
  c10::NoGradGuard no_grad;
  std::vector<std::vector<at::Tensor>> expected;
  for (const auto& tokens : tokens_) expected.push_back(alone(*model.start(1), tokens));
  const auto slots = model.start_slots(kSlots);
  together(*slots, expected, [&](const auto&, const auto& places) {
    for (const int64_t slot : places) slots->begin(slot);
  });
}

TEST_P(Slots, TranslationHasTheBitsOfEachSentenceAlone) {
  EncoderDecoder model(options(), kVocabulary, kVocabulary, true);
  ready(model);
  c10::NoGradGuard no_grad;
  std::vector<std::vector<at::Tensor>> expected;
  for (size_t n = 0; n < kTexts.size(); ++n) {
    const auto source = at::tensor(sources_[n], at::kLong).unsqueeze(0);
    expected.push_back(alone(*model.start(model.encode(source, {}), {}), tokens_[n]));
  }
  const auto slots = model.start_slots(kSlots);
  together(*slots, expected, [&](const auto& texts, const auto& places) {
    std::vector<std::vector<int64_t>> sources;
    std::vector<int64_t> lengths;
    for (const size_t n : texts) {
      sources.push_back(sources_[n]);
      lengths.push_back(static_cast<int64_t>(sources_[n].size()));
    }
    slots->begin(places, model.encode_apart(sources), lengths);
  });
}

TEST_P(Slots, SourcesEncodedTogetherHaveTheBitsOfEachAlone) {
  EncoderDecoder model(options(), kVocabulary, kVocabulary, true);
  ready(model);
  c10::NoGradGuard no_grad;
  const auto all = model.encode_apart(sources_);
  for (size_t n = 0; n < sources_.size(); ++n) {
    const auto own = model.encode(at::tensor(sources_[n], at::kLong).unsqueeze(0), {})[0];
    const auto row = all[static_cast<int64_t>(n)];
    EXPECT_TRUE(at::equal(row.narrow(0, 0, own.size(0)), own)) << "source " << n;
    EXPECT_EQ(row.narrow(0, own.size(0), row.size(0) - own.size(0)).abs().sum().item<float>(), 0);
  }
}

TEST_P(Slots, LongSourcesEncodedTogetherHaveTheBitsOfEachAlone) {
  ModelOptions longer = options();
  longer.max_length = 600;
  EncoderDecoder model(longer, kVocabulary, kVocabulary, true);
  ready(model);
  c10::NoGradGuard no_grad;
  std::vector<std::vector<int64_t>> sources;
  for (const int64_t length : {48, 49, 1, 130, 33, 130, 600, 97}) {
    const auto drawn = at::randint(kVocabulary, {length}, at::kLong);
    const int64_t* ids = drawn.const_data_ptr<int64_t>();
    sources.emplace_back(ids, ids + length);
  }
  const auto all = model.encode_apart(sources);
  for (size_t n = 0; n < sources.size(); ++n) {
    const auto own = model.encode(at::tensor(sources[n], at::kLong).unsqueeze(0), {})[0];
    EXPECT_TRUE(at::equal(all[static_cast<int64_t>(n)].narrow(0, 0, own.size(0)), own)) << "source " << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Slots,
                         ::testing::Combine(::testing::ValuesIn(testing::kinds_of_models()),
                                            ::testing::Values(std::nullopt, Quantization::int8,
                                                              Quantization::bfloat16)),
                         [](const auto& info) { return "kind" + std::to_string(info.index); });

}  // namespace
}  // namespace synthesizer
