// What becomes of examples that are empty, or too long for their field or for a batch.

#include "text/corpus.h"
#include "text/line_batches.h"

namespace synthesizer::testing {
namespace {

using LineBatchLimits = StoreTest;

TEST_F(LineBatchLimits, skip_and_count_examples_with_an_empty_field) {
  const auto store = open_table("1\t1\n\t2\n3\t\n4\t4\n", 2);
  const LineBatches batches(store, {});
  EXPECT_EQ(batches.empty(), 2);
  EXPECT_EQ(batches.examples(), 2);
}

TEST_F(LineBatchLimits, refuse_too_long_examples_unless_told_otherwise) {
  const auto store = open_table("1 2\t1\n1\t3 4 5\n", 2);
  LineBatchOptions limits;
  limits.max_lengths = {2, 2};
  EXPECT_EQ(
      mistake([&] { LineBatches(store, limits); }),
      path("train.tsv") +
          ":2: 3 tokens, over the limit of 2: raise it, or set data.too_long to \"skip\" or \"truncate\"");
  limits.max_lengths = {0, 3};
  EXPECT_EQ(LineBatches(store, limits).examples(), 2);
}

TEST_F(LineBatchLimits, name_the_file_of_the_field_that_is_too_long) {
  const auto store = TokenStore::open(options({write("a.en", "1\n"), write("a.de", "1 2\n")}));
  LineBatchOptions limits;
  limits.max_lengths = {1, 1};
  EXPECT_TRUE(mistake([&] { LineBatches(store, limits); }).starts_with(path("a.de") + ":1: 2 tokens"));
}

TEST_F(LineBatchLimits, skip_too_long_examples_when_told) {
  const auto store = open_table("1 2 3\n4 5\n6 7 8 9\n");
  LineBatchOptions limits;
  limits.max_lengths = {2};
  limits.too_long = TooLong::skip;
  const LineBatches batches(store, limits);
  EXPECT_EQ(batches.too_long(), 2);
  EXPECT_EQ(batches.make(0).examples, (std::vector<int64_t>{1}));
}

TEST_F(LineBatchLimits, truncate_too_long_examples_when_told) {
  const auto store = open_table("1 2 3\n4\n6 7 8 9\n");
  LineBatchOptions limits;
  limits.max_lengths = {2};
  limits.too_long = TooLong::truncate;
  limits.after = {99};
  limits.shuffle = false;
  const LineBatches batches(store, limits);
  EXPECT_EQ(batches.too_long(), 2);
  EXPECT_EQ(batches.make(0).fields[0].ids, (std::vector<int64_t>{4, 99, 0, 1, 2, 99, 6, 7, 99}));
}

TEST_F(LineBatchLimits, refuse_to_be_empty) {
  const auto store = open_table("1 2\n\n");
  LineBatchOptions limits;
  limits.max_lengths = {1};
  limits.too_long = TooLong::skip;
  EXPECT_EQ(mistake([&] { LineBatches(store, limits); }),
            path("train.tsv") + ": no example is left: 1 with an empty field, 1 too long");
}

TEST_F(LineBatchLimits, refuse_an_example_that_fits_no_batch) {
  const auto store = open_table("1\n1 2 3\n");
  LineBatchOptions limits;
  limits.batch_tokens = 3;
  EXPECT_EQ(LineBatches(store, limits).per_epoch(), 2);
  limits.after = {2};
  EXPECT_EQ(
      mistake([&] { LineBatches(store, limits); }),
      path("train.tsv") +
          ":2: 4 tokens do not fit into a batch of 3: raise train.batch_tokens, or lower the maximum length");
}

TEST_F(LineBatchLimits, refuse_options_for_another_number_of_fields) {
  const auto store = open_table("1\t1\n", 2);
  LineBatchOptions limits;
  limits.max_lengths = {5};
  EXPECT_EQ(mistake([&] { LineBatches(store, limits); }), "limits or tokens for 1 fields, where there are 2");
}

}  // namespace
}  // namespace synthesizer::testing
