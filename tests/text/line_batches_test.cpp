// Examples batched by length: each once, within limits, the same for the same number.

#include "text/line_batches.h"

#include <algorithm>
#include <set>
#include <thread>
#include <tuple>

#include "text/corpus.h"

namespace synthesizer::testing {
namespace {

class LineBatchesTest : public StoreTest {
 protected:
  /// Lengths 1 … 20 in the first field, 1 … 15 in the second, in no order.
  TokenStore open_many(int64_t examples) {
    std::string rows;
    for (int64_t i = 0; i < examples; ++i) {
      for (int64_t j = 0; j <= i * 7 % 20; ++j) rows += std::to_string(i + 1) + " ";
      rows += "\t";
      for (int64_t j = 0; j <= i * 11 % 15; ++j) rows += std::to_string(i + 1) + " ";
      rows += "\n";
    }
    return open_table(rows, 2);
  }
  static std::vector<int64_t> visited(const LineBatches& batches, int64_t epoch) {
    std::vector<int64_t> examples;
    for (int64_t i = 0; i < batches.per_epoch(); ++i) {
      const auto batch = batches.make(epoch * batches.per_epoch() + i);
      examples.insert(examples.end(), batch.examples.begin(), batch.examples.end());
    }
    return examples;
  }
};

TEST_F(LineBatchesTest, pad_with_zeros_and_tell_lengths) {
  const auto store = open_table("5 6\t7\n8\t9\n", 2);
  LineBatchOptions options;
  options.shuffle = false;
  options.before = {std::nullopt, 1};
  options.after = {2, 2};
  const LineBatches batches(store, options);
  ASSERT_EQ(batches.per_epoch(), 1);
  const auto batch = batches.make(0);
  EXPECT_EQ(batch.examples, (std::vector<int64_t>{1, 0}));
  ASSERT_EQ(batch.fields.size(), 2u);
  EXPECT_EQ(batch.fields[0].rows, 2);
  EXPECT_EQ(batch.fields[0].columns, 3);
  EXPECT_EQ(batch.fields[0].ids, (std::vector<int64_t>{8, 2, 0, 5, 6, 2}));
  EXPECT_EQ(batch.fields[0].lengths, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(batch.fields[1].ids, (std::vector<int64_t>{1, 9, 2, 1, 7, 2}));
  EXPECT_EQ(batch.fields[1].lengths, (std::vector<int64_t>{3, 3}));
}

TEST_F(LineBatchesTest, hold_every_example_once_an_epoch) {
  const auto store = open_many(500);
  for (bool shuffle : {false, true}) {
    LineBatchOptions options;
    options.batch_tokens = 100;
    options.shuffle = shuffle;
    const LineBatches batches(store, options);
    for (int64_t epoch : {0, 1, 5}) {
      auto examples = visited(batches, epoch);
      std::sort(examples.begin(), examples.end());
      ASSERT_EQ(examples.size(), 500u);
      for (size_t i = 0; i < 500; ++i) ASSERT_EQ(examples[i], static_cast<int64_t>(i));
    }
  }
}

TEST_F(LineBatchesTest, hold_the_tokens_of_their_examples) {
  const auto store = open_many(100);
  LineBatchOptions options;
  options.batch_tokens = 64;
  const LineBatches batches(store, options);
  for (int64_t n = 0; n < 2 * batches.per_epoch(); ++n) {
    const auto batch = batches.make(n);
    EXPECT_EQ(batch.sequence, n);
    for (size_t field = 0; field < 2; ++field) {
      for (size_t i = 0; i < batch.examples.size(); ++i) {
        const auto tokens = store.tokens(batch.examples[i], field);
        EXPECT_EQ(row(batch.fields[field], static_cast<int64_t>(i)),
                  std::vector<int64_t>(tokens.begin(), tokens.end()));
      }
    }
  }
}

TEST_F(LineBatchesTest, keep_their_limits) {
  const auto store = open_many(500);
  LineBatchOptions options;
  options.batch_tokens = 100;
  options.batch_examples = 12;
  options.after = {2, 2};
  const LineBatches batches(store, options);
  int64_t most = 0;
  for (int64_t n = 0; n < batches.per_epoch(); ++n) {
    const auto batch = batches.make(n);
    for (const auto& field : batch.fields) EXPECT_LE(field.rows * field.columns, 100);
    most = std::max(most, batch.fields[0].rows);
  }
  EXPECT_EQ(most, 12);
}

TEST_F(LineBatchesTest, pad_little) {
  const auto store = open_many(3000);
  LineBatchOptions options;
  options.batch_tokens = 400;
  const LineBatches batches(store, options);
  int64_t padded = 0, used = 0;
  for (int64_t n = 0; n < batches.per_epoch(); ++n) {
    const auto batch = batches.make(n);
    for (const auto& field : batch.fields) {
      padded += field.rows * field.columns;
      for (int64_t length : field.lengths) used += length;
    }
  }
  EXPECT_LT(static_cast<double>(padded), 1.15 * static_cast<double>(used));
}

TEST_F(LineBatchesTest, are_the_same_for_the_same_number_whatever_the_order) {
  const auto store = open_many(200);
  LineBatchOptions options;
  options.batch_tokens = 80;
  const LineBatches forward(store, options), backward(store, options);
  std::vector<Batch> made;
  const int64_t count = 3 * forward.per_epoch();
  for (int64_t n = 0; n < count; ++n) made.push_back(forward.make(n));
  for (int64_t n = count; n-- > 0;) {
    const auto batch = backward.make(n);
    EXPECT_EQ(batch.examples, made[static_cast<size_t>(n)].examples);
    EXPECT_EQ(batch.fields[0].ids, made[static_cast<size_t>(n)].fields[0].ids);
  }
}

TEST_F(LineBatchesTest, may_be_made_by_many_threads) {
  const auto store = open_many(200);
  LineBatchOptions options;
  options.batch_tokens = 80;
  const LineBatches batches(store, options), alone(store, options);
  std::vector<std::vector<int64_t>> made(4 * static_cast<size_t>(batches.per_epoch()));
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t n = t; n < made.size(); n += 4) made[n] = batches.make(static_cast<int64_t>(n)).examples;
    });
  }
  for (auto& thread : threads) thread.join();
  for (size_t n = 0; n < made.size(); ++n) EXPECT_EQ(made[n], alone.make(static_cast<int64_t>(n)).examples);
}

TEST_F(LineBatchesTest, differ_between_epochs_and_seeds) {
  const auto store = open_many(500);
  LineBatchOptions options;
  options.batch_tokens = 100;
  const LineBatches batches(store, options);
  options.seed = 2;
  const LineBatches others(store, options);
  EXPECT_NE(visited(batches, 0), visited(batches, 1));
  EXPECT_NE(visited(batches, 0), visited(others, 0));
  // Not only the order of the batches: who is in one with whom changes as well.
  auto companies = [](const LineBatches& from, int64_t epoch) {
    std::set<std::set<int64_t>> found;
    for (int64_t i = 0; i < from.per_epoch(); ++i) {
      const auto batch = from.make(epoch * from.per_epoch() + i);
      found.emplace(batch.examples.begin(), batch.examples.end());
    }
    return found;
  };
  EXPECT_NE(companies(batches, 0), companies(batches, 1));
}

TEST_F(LineBatchesTest, not_shuffled_are_sorted_and_the_same_in_every_epoch) {
  const auto store = open_many(300);
  LineBatchOptions options;
  options.batch_tokens = 100;
  options.shuffle = false;
  const LineBatches batches(store, options);
  const auto examples = visited(batches, 0);
  EXPECT_EQ(examples, visited(batches, 1));
  for (size_t i = 1; i < examples.size(); ++i) {
    auto lengths = [&](size_t at) {
      return std::tuple(store.length(examples[at], 1), store.length(examples[at], 0), examples[at]);
    };
    EXPECT_LT(lengths(i - 1), lengths(i));
  }
}

TEST_F(LineBatchesTest, describe_where_a_batch_comes_from) {
  const auto store = open_table("1\n2\n3\n4\n5\n");
  LineBatchOptions options;
  options.shuffle = false;
  const LineBatches all(store, options);
  EXPECT_EQ(all.describe(all.make(0)), path("train.tsv") + ":1, 2, 3 and 2 more");
  options.batch_examples = 3;
  const LineBatches few(store, options);
  EXPECT_EQ(few.describe(few.make(1)), path("train.tsv") + ":4, 5");
}

}  // namespace
}  // namespace synthesizer::testing
