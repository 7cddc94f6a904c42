// The operator refuses parts that don't fit together, and says which.

#include <gmock/gmock.h>

#include "attention/kernel/problems.h"
#include "base/error.h"

namespace synthesizer::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <class Matcher>
void expect_refused(const Inputs& inputs, const Matcher& message, const Dropout& dropout = {}) {
  try {
    attend(inputs.logits, inputs.mask, inputs.value, dropout);
    ADD_FAILURE() << "was not refused";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), message);
  }
}

const int kAll = query_key | row_column | table | outer;

TEST(AttendCheck, of_values) {
  Inputs inputs = make_inputs(kAll, {2, 2, 5, 5, 4});
  inputs.value = inputs.value[0];
  expect_refused(inputs, AllOf(HasSubstr("value"), HasSubstr("2×5×4")));
  expect_refused(make_inputs(kAll, {2, 2, 5, 5, 4}).to(at::kHalf),
                 AllOf(HasSubstr("value"), HasSubstr("Half")));
}

TEST(AttendCheck, of_pairs_that_miss_a_half) {
  for (const char* missing : {"query", "key", "row", "column", "left", "right"}) {
    Inputs inputs = make_inputs(kAll, {2, 2, 5, 5, 4});
    for (auto& [name, tensor] : inputs.tensors()) {
      if (name == missing) *tensor = at::Tensor();
    }
    expect_refused(inputs, AllOf(HasSubstr(missing), HasSubstr("missing")));
  }
}

TEST(AttendCheck, of_shapes) {
  for (const char* cut : {"key", "row", "column", "table", "left", "right"}) {
    Inputs inputs = make_inputs(kAll, {2, 2, 5, 5, 4});
    for (auto& [name, tensor] : inputs.tensors()) {
      if (name == cut) *tensor = tensor->narrow(-2, 0, 3);
    }
    expect_refused(inputs, AllOf(HasSubstr(cut), HasSubstr("3"), HasSubstr("5")));
  }
  for (const char* cut : {"query", "key", "row", "column", "table", "left"}) {
    Inputs inputs = make_inputs(kAll, {2, 2, 5, 5, 4});
    for (auto& [name, tensor] : inputs.tensors()) {
      if (name == cut) *tensor = tensor->narrow(0, 0, 1);
    }
    expect_refused(inputs, HasSubstr(cut));
  }
}

TEST(AttendCheck, of_dtypes) {
  for (const char* other : {"query", "key", "row", "column", "table", "left", "right"}) {
    Inputs inputs = make_inputs(kAll, {2, 2, 5, 5, 4});
    for (auto& [name, tensor] : inputs.tensors()) {
      if (name == other) *tensor = tensor->to(at::kDouble);
    }
    expect_refused(inputs, AllOf(HasSubstr(other), HasSubstr("Double"), HasSubstr("Float")));
  }
}

TEST(AttendCheck, of_outer_factors_that_are_too_short) {
  Inputs inputs = make_inputs(outer, {2, 2, 5, 30, 4});
  inputs.logits.right = inputs.logits.right.narrow(3, 0, 1);
  expect_refused(inputs, AllOf(HasSubstr("left and right"), HasSubstr("30")));
}

TEST(AttendCheck, of_lengths) {
  auto with = [](const at::Tensor& rows, const at::Tensor& columns) {
    Inputs inputs = make_inputs(query_key, {2, 2, 5, 6, 4});
    inputs.mask = {false, rows, columns};
    return inputs;
  };
  expect_refused(with(lengths_of({1}), {}), AllOf(HasSubstr("row_lengths"), HasSubstr("1"), HasSubstr("2")));
  expect_refused(with(lengths_of({1, 6}), {}),
                 AllOf(HasSubstr("row_lengths[1]"), HasSubstr("6"), HasSubstr("5")));
  expect_refused(with({}, lengths_of({-1, 6})),
                 AllOf(HasSubstr("column_lengths[0]"), HasSubstr("-1"), HasSubstr("6")));
  expect_refused(with({}, lengths_of({1, 2}).to(at::kInt)),
                 AllOf(HasSubstr("column_lengths"), HasSubstr("int64")));
  expect_refused(with({}, lengths_of({1, 2}).view({2, 1})),
                 AllOf(HasSubstr("column_lengths"), HasSubstr("2×1")));
}

TEST(AttendCheck, of_a_causal_mask_on_a_rectangle) {
  Inputs inputs = make_inputs(query_key, {2, 2, 5, 6, 4});
  inputs.mask.causal = true;
  expect_refused(inputs, AllOf(HasSubstr("causal"), HasSubstr("5"), HasSubstr("6")));
}

TEST(AttendCheck, of_rows) {
  for (int parts : {query_key | 0, row_column | 0, table | 0, outer | 0}) {
    Inputs inputs = make_inputs(parts, {2, 2, 5, 6, 4});
    inputs.logits.rows = 3;
    expect_refused(inputs, AllOf(HasSubstr("rows is 3"), HasSubstr("5")));
  }
  Inputs inputs = make_inputs(one_row_table, {2, 2, 5, 6, 4});
  inputs.logits.rows = -1;
  expect_refused(inputs, AllOf(HasSubstr("rows is -1"), HasSubstr("at least 0")));
}

TEST(AttendCheck, of_dropout) {
  for (double p : {1.0, -0.1, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
    expect_refused(make_inputs(query_key, {2, 2, 5, 5, 4}), HasSubstr("dropout"), {p, 1});
  }
}

}  // namespace
}  // namespace synthesizer::testing
