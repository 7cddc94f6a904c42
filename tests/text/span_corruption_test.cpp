// Spans taken out of a text: what is left and what is asked for give the text back, as often as T5 says.

#include "text/span_corruption.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "text/corpus.h"
#include "text/stream_batches.h"

namespace synthesizer::testing {
namespace {

constexpr int64_t kBegin = 1, kEnd = 2, kSentinel = 1000;

SpanCorruption how() {
  return {.first_sentinel = kSentinel, .begin = kBegin, .end = kEnd};
}

std::vector<int64_t> text(int64_t length) {
  std::vector<int64_t> tokens(static_cast<size_t>(length));
  std::iota(tokens.begin(), tokens.end(), int64_t{10});
  return tokens;
}

/// Each sentinel of the input replaced by what follows it in the target.
std::vector<int64_t> restored(const Corrupted& example) {
  std::map<int64_t, std::vector<int64_t>> spans;
  int64_t sentinel = -1;
  for (size_t i = 1; i + 1 < example.target.size(); ++i) {
    const int64_t token = example.target[i];
    if (token >= kSentinel) {
      sentinel = token;
      EXPECT_FALSE(spans.contains(token));
    } else {
      spans[sentinel].push_back(token);
    }
  }
  std::vector<int64_t> whole;
  for (size_t i = 0; i + 1 < example.input.size(); ++i) {
    const int64_t token = example.input[i];
    if (token < kSentinel) {
      whole.push_back(token);
    } else {
      whole.insert(whole.end(), spans.at(token).begin(), spans.at(token).end());
    }
  }
  return whole;
}

TEST(SpanCorruption, InputAndTargetGiveBackTheText) {
  for (int64_t length = 1; length <= 200; ++length) {
    RandomNumbers random(static_cast<uint64_t>(length));
    const auto example = corrupt(text(length), how(), random);
    EXPECT_EQ(restored(example), text(length));
    EXPECT_EQ(example.input.back(), kEnd);
    EXPECT_EQ(example.target.front(), kBegin);
    EXPECT_EQ(example.target.back(), kEnd);
  }
}

TEST(SpanCorruption, SentinelsCountUpAndSpansNeverTouch) {
  RandomNumbers random(3);
  const auto example = corrupt(text(500), how(), random);
  int64_t next = kSentinel;
  for (size_t i = 0; i < example.input.size(); ++i) {
    if (example.input[i] < kSentinel) continue;
    EXPECT_EQ(example.input[i], next++);
    ASSERT_GT(i, 0u);
    EXPECT_LT(example.input[i - 1], kSentinel);
  }
  EXPECT_EQ(next - kSentinel, 25);  // 75 of 500 tokens in spans of 3
}

TEST(SpanCorruption, LengthsAreThoseOfT5) {
  // What t5.data.preprocessors.random_spans_helper says for 512 tokens: 568 of text, 114 of target.
  EXPECT_EQ(text_length(512, how()), 568);
  RandomNumbers random(1);
  const auto example = corrupt(text(568), how(), random);
  EXPECT_EQ(example.input.size(), 512u);
  EXPECT_EQ(example.target.size(), 115u);  // and the begin, which is fed and not said
}

TEST(SpanCorruption, PlacesAwayFromTheEndsAreTakenOutAboutAsOften) {
  std::vector<int64_t> taken(60, 0);
  RandomNumbers random(5);
  constexpr int64_t kRounds = 4000;
  for (int64_t n = 0; n < kRounds; ++n) {
    const auto example = corrupt(text(60), how(), random);
    for (const int64_t token : example.target) {
      if (token >= 10 && token < kSentinel) ++taken[static_cast<size_t>(token - 10)];
    }
  }
  EXPECT_EQ(std::accumulate(taken.begin(), taken.end(), int64_t{0}), 9 * kRounds);
  EXPECT_EQ(taken.front(), 0);  // the first token always stays, the last never does
  EXPECT_EQ(taken.back(), kRounds);
  for (size_t i = 10; i < 45; ++i)
    EXPECT_NEAR(static_cast<double>(taken[i]), 0.12 * kRounds, 0.05 * kRounds) << i;
}

TEST(SpanCorruption, OtherSharesAndLengths) {
  SpanCorruption half = how();
  half.share = 0.5;
  half.mean_length = 1;
  RandomNumbers random(1);
  const auto example = corrupt(text(20), half, random);
  EXPECT_EQ(example.input.size(), 21u);
  EXPECT_EQ(example.target.size(), 22u);
  half.sentinels = 4;
  const auto few = corrupt(text(20), half, random);
  EXPECT_EQ(std::count_if(few.input.begin(), few.input.end(), [](int64_t t) { return t >= kSentinel; }), 4);
  EXPECT_EQ(restored(few), text(20));
}

class CorruptedBatchesTest : public StoreTest {};

TEST_F(CorruptedBatchesTest, AreTheSameWheneverTheyAreAskedForAndDifferFromEachOther) {
  std::string lines;
  for (int i = 10; i < 900; ++i) lines += std::to_string(i) + (i % 9 == 0 ? "\n" : " ");
  const auto store = TokenStore::open(options({write("train.txt", lines)}));
  auto make = [&](uint64_t seed) {
    return CorruptedBatches(
        std::make_unique<StreamBatches>(store, StreamBatchOptions{kEnd, kBegin, 50, 3, 1, false}), how(),
        seed);
  };
  const auto batches = make(1), again = make(1), other = make(2);
  const Batch first = batches.make(0);
  EXPECT_EQ(first.fields[0].rows, 3);
  EXPECT_EQ(first.fields[0].ids, again.make(0).fields[0].ids);
  EXPECT_NE(first.fields[0].ids, other.make(0).fields[0].ids);
  EXPECT_NE(first.fields[0].ids, batches.make(batches.per_epoch()).fields[0].ids);  // the next epoch
  EXPECT_EQ(restored({row(first.fields[0], 1), row(first.fields[1], 1)}).size(), 50u);
}

}  // namespace
}  // namespace synthesizer::testing
