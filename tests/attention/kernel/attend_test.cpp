// The block code in float32 against the plain path in float64: each part of the logits alone and with others,
// masks, cross-attention, dropout, and sizes around the borders of blocks. Forward and all gradients.

#include "attention/kernel/problems.h"
#include "attention/layers.h"

namespace synthesizer::testing {
namespace {

const int kCombinations[] = {
    query_key,
    row_column,
    table,
    one_row_table,
    outer,
    tiled_outer,
    query_key | row_column,
    query_key | table,
    query_key | one_row_table,
    query_key | outer,
    row_column | table,
    row_column | one_row_table,
    row_column | tiled_outer,
    table | outer,
    one_row_table | outer,
    shared_row,
    shared_row | table,
    table | table_scale,
    table | one_scale,
    one_row_table | table_scale,
    shared_row | table | table_scale,
    query_key | shared_row,
    query_key | table | table_scale,
    query_key | one_row_table | one_scale,
    query_key | shared_row | table | one_scale | outer,
    query_key | row_column | one_row_table | outer,
    query_key | row_column | table | tiled_outer,
};

struct AttendCase {
  int parts;
  bool causal;
  double dropout;
};

class Attend : public ::testing::TestWithParam<AttendCase> {
 protected:
  void check(const Sizes& sizes, const at::Tensor& row_lengths = {}, const at::Tensor& column_lengths = {}) {
    Inputs inputs = make_inputs(GetParam().parts, sizes);
    inputs.mask = {GetParam().causal, row_lengths, column_lengths};
    std::ostringstream what;
    what << sizes.batch << " samples, " << sizes.rows << " rows, " << sizes.columns << " columns"
         << (row_lengths.defined() ? ", row lengths" : "")
         << (column_lengths.defined() ? ", column lengths" : "");
    expect_block_code_equals_plain(inputs, {GetParam().dropout, 1234}, what.str());
  }
};

TEST_P(Attend, equals_plain_on_squares) {
  for (int64_t n : {1, 2, 7, 8, 47, 48, 49, 97}) check({2, 2, n, n, 3});
  check({1, 1, 530, 530, 2});
}

TEST_P(Attend, equals_plain_with_one_head_and_many_samples) {
  check({5, 1, 33, 33, 4});
}

TEST_P(Attend, equals_plain_with_padding) {
  for (int64_t n : {5, 97}) {
    const auto lengths = lengths_of({n, n / 2, 1, 0});
    check({4, 2, n, n, 3}, lengths, lengths);
    check({4, 2, n, n, 3}, lengths);
  }
  const auto lengths = lengths_of({530, 514, 30});
  check({3, 1, 530, 530, 2}, lengths, lengths);
}

TEST_P(Attend, equals_plain_with_padded_columns_alone) {
  for (int64_t n : {5, 60}) check({4, 2, n, n, 3}, {}, lengths_of({n, n / 2, 1, 0}));
}

TEST_P(Attend, equals_plain_where_row_and_column_lengths_differ) {
  check({3, 2, 60, 60, 3}, lengths_of({60, 20, 50}), lengths_of({10, 60, 50}));
}

TEST_P(Attend, equals_plain_on_rectangles) {
  if (GetParam().causal) {  // then rectangles are refused
    EXPECT_THROW(check({2, 2, 3, 6, 4}), std::invalid_argument);
    return;
  }
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 9}, {9, 1}, {3, 130}, {60, 3}, {5, 530}}) {
    check({2, 2, rows, columns, 4});
    check({3, 2, rows, columns, 4}, lengths_of({rows, rows / 2, 0}), lengths_of({columns, 1, columns / 2}));
  }
}

std::vector<AttendCase> attend_cases() {
  std::vector<AttendCase> all;
  for (int parts : kCombinations)
    for (bool causal : {false, true})
      for (double dropout : {0.0, 0.3}) all.push_back({parts, causal, dropout});
  return all;
}

std::string attend_name(const ::testing::TestParamInfo<AttendCase>& info) {
  return parts_name(info.param.parts) + (info.param.causal ? "_causal" : "") +
         (info.param.dropout > 0 ? "_dropout" : "");
}

INSTANTIATE_TEST_SUITE_P(All, Attend, ::testing::ValuesIn(attend_cases()), attend_name);

TEST(AttendPlain, in_float32_and_float64_gives_the_weights_times_the_values) {
  for (int parts : kCombinations) {
    Inputs inputs = make_inputs(parts, {2, 2, 9, 9, 4}).to(at::kDouble);
    inputs.mask = {false, {}, lengths_of({9, 4})};
    const auto weights = attention_weights(inputs.logits, inputs.mask);
    EXPECT_TRUE(
        close(at::matmul(weights, inputs.value), attend(inputs.logits, inputs.mask, inputs.value), 1e-12))
        << parts_name(parts);
  }
}

TEST(AttendBFloat16, is_near_float64_of_the_same_rounded_numbers) {
  for (int parts : kCombinations) {
    for (bool causal : {false, true}) {
      Inputs inputs = make_inputs(parts, {2, 2, 70, 70, 8}).to(at::kBFloat16);
      inputs.mask.causal = causal;
      const Outcome rounded = run(inputs);
      EXPECT_EQ(rounded.result.scalar_type(), at::kBFloat16);
      // Products are summed in float32: only the result is rounded (which a scale's gradient, one sum over
      // all entries, feels most).
      expect_close(rounded,
                   run(inputs.to(at::kDouble), {}, noise(rounded.result.sizes(), 77).to(at::kBFloat16)),
                   inputs.logits.table_scale.defined() ? 0.2 : 2e-2, parts_name(parts));
    }
  }
}

/// A row for all against as many equal rows: the same result; its gradient is the sum of theirs.
void expect_one_row_serves_all(const Inputs& one, const Dropout& dropout, const std::string& what) {
  Inputs full = one;
  const int64_t n = one.value.size(2);
  full.logits.table = one.logits.table.expand({one.logits.table.size(0), n, n}).contiguous();
  Outcome expected = run(full, dropout);
  for (auto& [name, gradient] : expected.gradients) {
    if (name == "table") gradient = gradient.sum(1, /*keepdim=*/true);
  }
  expect_close(run(one, dropout), expected, one.value.scalar_type() == at::kDouble ? 1e-12 : 2e-5, what);
}

TEST(AttendOneRowTable, serves_all_rows_on_every_path) {
  struct Path {
    const char* name;
    int parts;
    at::ScalarType dtype;
  };
  for (const Path& path :
       {Path{"global", one_row_table, at::kFloat}, Path{"plain", one_row_table, at::kDouble},
        Path{"fused", query_key | one_row_table, at::kFloat}}) {
    for (bool causal : {false, true}) {
      for (const auto& lengths : {at::Tensor(), lengths_of({60, 17, 0})}) {
        Inputs inputs = make_inputs(path.parts, {3, 2, 60, 60, 4}).to(path.dtype);
        inputs.mask = {causal, lengths, causal ? at::Tensor() : lengths};
        const std::string what = std::string(path.name) + (causal ? ", causal" : "");
        expect_one_row_serves_all(inputs, {}, what);
        expect_one_row_serves_all(inputs, {0.3, 5}, what + ", dropout");
      }
    }
  }
}

TEST(AttendOneRowTable, makes_a_square_unless_the_number_of_rows_is_given) {
  for (auto dtype : {at::kFloat, at::kDouble}) {
    Inputs inputs = make_inputs(one_row_table, {2, 2, 1, 150, 4}).to(dtype);
    const auto one = attend(inputs.logits, inputs.mask, inputs.value);  // a row of decoding
    EXPECT_EQ(one.size(2), 1);
    EXPECT_EQ(attention_weights(inputs.logits, inputs.mask).size(2), 1);
    for (int64_t rows : {0, 7, 60}) {
      inputs.logits.rows = rows;
      EXPECT_TRUE(close(run(inputs).result, one.expand({2, 2, rows, 4}), 1e-6)) << rows;
    }
    inputs.logits.rows.reset();
    EXPECT_TRUE(close(run(inputs).result, one.expand({2, 2, 150, 4}), 1e-6));
    EXPECT_EQ(attention_weights(inputs.logits, inputs.mask).size(2), 150);
    inputs.mask.causal = true;
    EXPECT_EQ(run(inputs).result.size(2), 150);
    EXPECT_EQ(attention_weights(inputs.logits, inputs.mask).size(2), 150);
  }
}

TEST(AttendGlobalWeights, made_once_give_what_attend_gives) {
  for (int parts : {int{table}, int{one_row_table}, int{shared_row}, shared_row | table | table_scale}) {
    for (bool causal : {false, true}) {
      Inputs inputs = make_inputs(parts, {3, 2, 150, 150, 4});
      const auto weights = global_weights(inputs.logits, causal);
      EXPECT_TRUE(close(weights, attention_weights(inputs.logits, {causal, {}, {}})[0], 1e-6));
      for (const auto& lengths : {at::Tensor(), lengths_of({150, 80, 0})}) {
        inputs.mask = {causal, lengths, {}};
        EXPECT_TRUE(close(attend_with_global_weights(weights, inputs.mask, inputs.value),
                          attend(inputs.logits, inputs.mask, inputs.value), 1e-6));
      }
      inputs.mask.column_lengths = lengths_of({150, 80, 0});
      EXPECT_THROW(attend_with_global_weights(weights, inputs.mask, inputs.value), std::invalid_argument);
    }
  }
}

}  // namespace
}  // namespace synthesizer::testing
