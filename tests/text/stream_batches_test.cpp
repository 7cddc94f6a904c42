// A running text in windows: what is fed, what is predicted, and how often.

#include "text/stream_batches.h"

#include <algorithm>
#include <map>
#include <set>

#include "text/corpus.h"

namespace synthesizer::testing {
namespace {

constexpr Token kLineEnd = 900, kFirst = 901;

class StreamBatchesTest : public StoreTest {
 protected:
  TokenStore open(const std::string& text) {
    StoreOptions given = options({write("train.txt", text)});
    given.shard_tokens = 5;
    return TokenStore::open(given);
  }
  /// 0, 1, 2 … in lines of different lengths, some of them empty.
  TokenStore open_many(int tokens) {
    std::string text;
    for (int i = 0; i < tokens; ++i) {
      text += std::to_string(i) + " ";
      if (i % 7 == 3) text += "\n";
      if (i % 11 == 5) text += "\n\n";
    }
    return open(text + "\n");
  }
  static std::vector<int64_t> stream_of(const TokenStore& store) {
    std::vector<int64_t> stream;
    for (int64_t line = 0; line < store.size(); ++line) {
      for (Token token : store.tokens(line, 0)) stream.push_back(token);
      stream.push_back(kLineEnd);
    }
    return stream;
  }
  static StreamBatchOptions windows(int64_t length, int64_t rows, bool shuffle) {
    return {kLineEnd, kFirst, length, rows, 1, shuffle};
  }
};

TEST_F(StreamBatchesTest, feed_each_token_to_predict_the_next) {
  const auto store = open("1 2\n\n3\n");
  const StreamBatches batches(store, windows(4, 2, false));
  ASSERT_EQ(batches.per_epoch(), 1);
  const auto batch = batches.make(0);
  EXPECT_EQ(batch.fields[0].rows, 2);
  EXPECT_EQ(batch.fields[0].columns, 4);
  EXPECT_EQ(batch.fields[0].ids, (std::vector<int64_t>{kFirst, 1, 2, kLineEnd, kLineEnd, 3, 0, 0}));
  EXPECT_EQ(batch.fields[1].ids, (std::vector<int64_t>{1, 2, kLineEnd, kLineEnd, 3, kLineEnd, 0, 0}));
  EXPECT_EQ(batch.fields[1].lengths, (std::vector<int64_t>{4, 2}));
  EXPECT_EQ(batch.examples, (std::vector<int64_t>{0, 2}));
}

TEST_F(StreamBatchesTest, not_shuffled_predict_every_token_once_in_order) {
  const auto store = open_many(100);
  const auto stream = stream_of(store);
  for (int64_t length : {1, 3, 7, 16, 1000}) {
    for (int64_t rows : {1, 3, 50}) {
      const StreamBatches batches(store, windows(length, rows, false));
      std::vector<int64_t> fed, predicted;
      for (int64_t n = 0; n < batches.per_epoch(); ++n) {
        const auto batch = batches.make(n);
        for (int64_t i = 0; i < batch.fields[0].rows; ++i) {
          const auto inputs = row(batch.fields[0], i), targets = row(batch.fields[1], i);
          fed.insert(fed.end(), inputs.begin(), inputs.end());
          predicted.insert(predicted.end(), targets.begin(), targets.end());
        }
      }
      ASSERT_EQ(predicted, stream);
      ASSERT_EQ(fed.front(), kFirst);
      ASSERT_TRUE(std::equal(fed.begin() + 1, fed.end(), stream.begin()));
    }
  }
}

TEST_F(StreamBatchesTest, shuffled_are_whole_windows_of_the_stream) {
  const auto store = open_many(100);
  auto stream = stream_of(store);
  stream.insert(stream.begin(), kFirst);
  const StreamBatches batches(store, windows(8, 3, true));
  for (int64_t n = 0; n < 5 * batches.per_epoch(); ++n) {
    const auto batch = batches.make(n);
    ASSERT_EQ(batch.fields[0].rows, 3);
    ASSERT_EQ(batch.fields[0].lengths, (std::vector<int64_t>{8, 8, 8}));
    for (int64_t i = 0; i < 3; ++i) {
      auto window = row(batch.fields[0], i);
      const auto targets = row(batch.fields[1], i);
      EXPECT_TRUE(std::equal(window.begin() + 1, window.end(), targets.begin()));
      window.push_back(targets.back());
      EXPECT_NE(std::search(stream.begin(), stream.end(), window.begin(), window.end()), stream.end());
    }
  }
}

TEST_F(StreamBatchesTest, shuffled_predict_a_token_once_an_epoch_the_filled_up_batch_aside) {
  const auto store = open_many(100);  // every token occurs once, line ends aside
  const StreamBatches batches(store, windows(8, 3, true));
  const int64_t slots = batches.per_epoch() * 3;
  for (int64_t epoch = 0; epoch < 10; ++epoch) {
    std::map<int64_t, int> seen;
    std::set<std::vector<int64_t>> different;
    for (int64_t n = 0; n < batches.per_epoch(); ++n) {
      const auto batch = batches.make(epoch * batches.per_epoch() + n);
      for (int64_t i = 0; i < 3; ++i) {
        if (different.insert(row(batch.fields[1], i)).second) {
          for (int64_t token : row(batch.fields[1], i)) ++seen[token];
        }
      }
    }
    seen.erase(kLineEnd);
    for (const auto& [token, times] : seen) EXPECT_EQ(times, 1) << token;
    EXPECT_GE(static_cast<int64_t>(different.size()), batches.tokens() / 8 - 1);
    EXPECT_LE(static_cast<int64_t>(different.size()), slots);
  }
}

TEST_F(StreamBatchesTest, fill_the_last_batch_from_the_front_of_the_epoch) {
  const auto store = open("1 2 3 4 5 6 7 8 9\n");  // ten tokens: ten windows of one
  const StreamBatches batches(store, windows(1, 4, true));
  ASSERT_EQ(batches.per_epoch(), 3);
  const auto first = batches.make(0).fields[1].ids, last = batches.make(2).fields[1].ids;
  EXPECT_EQ(last[2], first[0]);
  EXPECT_EQ(last[3], first[1]);
}

TEST_F(StreamBatchesTest, shuffled_reach_every_token_over_the_epochs) {
  const auto store = open_many(50);
  const StreamBatches batches(store, windows(16, 2, true));
  std::set<int64_t> seen;
  for (int64_t n = 0; n < 100 * batches.per_epoch(); ++n) {
    const Batch batch = batches.make(n);  // named: a part of a temporary would end before the loop begins
    for (int64_t token : batch.fields[1].ids) seen.insert(token);
  }
  for (int64_t token = 0; token < 50; ++token) EXPECT_TRUE(seen.contains(token)) << token;
}

TEST_F(StreamBatchesTest, differ_between_epochs_and_seeds) {
  const auto store = open_many(200);
  const StreamBatches batches(store, windows(8, 4, true));
  auto options = windows(8, 4, true);
  options.seed = 2;
  const StreamBatches others(store, options);
  EXPECT_NE(batches.make(0).fields[0].ids, batches.make(batches.per_epoch()).fields[0].ids);
  EXPECT_NE(batches.make(0).fields[0].ids, others.make(0).fields[0].ids);
}

TEST_F(StreamBatchesTest, are_the_same_for_the_same_number_whatever_the_order) {
  const auto store = open_many(200);
  const StreamBatches forward(store, windows(8, 4, true)), backward(store, windows(8, 4, true));
  std::vector<std::vector<int64_t>> made;
  const int64_t count = 3 * forward.per_epoch();
  for (int64_t n = 0; n < count; ++n) made.push_back(forward.make(n).fields[0].ids);
  for (int64_t n = count; n-- > 0;) {
    EXPECT_EQ(backward.make(n).fields[0].ids, made[static_cast<size_t>(n)]);
  }
}

TEST_F(StreamBatchesTest, of_a_short_stream_are_one_window) {
  const auto store = open("1 2\n");
  for (bool shuffle : {false, true}) {
    const StreamBatches batches(store, windows(8, 4, shuffle));
    EXPECT_EQ(batches.per_epoch(), 1);
    for (int64_t n : {0, 1, 2}) {
      const auto batch = batches.make(n);
      EXPECT_EQ(batch.fields[0].ids, (std::vector<int64_t>{kFirst, 1, 2}));
      EXPECT_EQ(batch.fields[1].ids, (std::vector<int64_t>{1, 2, kLineEnd}));
    }
  }
}

TEST_F(StreamBatchesTest, count_line_ends_as_one_word_and_character) {
  const auto store = open("12 3\n\n4\n");
  const StreamBatches batches(store, windows(2, 1, false));
  EXPECT_EQ(batches.tokens(), 6);
  EXPECT_EQ(batches.words(), 6);
  EXPECT_EQ(batches.characters(), 8);
}

TEST_F(StreamBatchesTest, describe_the_lines_their_windows_begin_in) {
  const auto store = open("1 2\n3 4\n5 6\n7 8\n");
  const StreamBatches batches(store, windows(3, 4, false));
  EXPECT_EQ(batches.describe(batches.make(0)), path("train.txt") + ":1, 2, 3 and 1 more");
}

TEST_F(StreamBatchesTest, refuse_what_cannot_be) {
  const auto store = open("1 2\n");
  EXPECT_EQ(mistake([&] { StreamBatches(store, windows(0, 1, true)); }),
            "length is 0: it must be at least 1");
  EXPECT_EQ(mistake([&] { StreamBatches(store, windows(1, 0, true)); }), "rows is 0: it must be at least 1");
  const auto pairs = TokenStore::open(options({write("a", "1\n"), write("b", "1\n")}));
  EXPECT_EQ(mistake([&] { StreamBatches(pairs, windows(1, 1, true)); }),
            path("a") + " has 2 fields, where a running text has one");
}

}  // namespace
}  // namespace synthesizer::testing
