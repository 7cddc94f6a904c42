// The global path with padding and no causal mask divides shared weights by prefix sums. Where a sample's own
// columns have next to no weight in the whole row, that quotient has no digits: such rows take another way.

#include "attention/kernel/problems.h"
#include "attention/layers.h"

namespace synthesizer::testing {
namespace {

/// A table whose columns from `from` on are huge, so that the shared weights of the others underflow.
Inputs with_huge_columns(double huge, int64_t from, int64_t n = 150) {
  Inputs inputs = make_inputs(table, {4, 2, n, n, 4});
  inputs.logits.table.narrow(2, from, n - from).fill_(huge);
  const auto lengths = lengths_of({n, from, from / 2, 1});
  inputs.mask = {false, lengths, lengths};
  return inputs;
}

TEST(AttendUnderflowed, rows_have_the_weights_of_their_own_columns) {
  for (double huge : {20.0, 27.0, 29.0, 100.0, 200.0, 1e4}) {
    for (double dropout : {0.0, 0.3}) {
      expect_block_code_equals_plain(
          with_huge_columns(huge, 90), {dropout, 3},
          "table of " + std::to_string(huge) + ", dropout " + std::to_string(dropout));
    }
  }
}

TEST(AttendUnderflowed, rows_and_ordinary_ones_live_side_by_side) {
  Inputs inputs = with_huge_columns(0, 90);
  for (int64_t i = 0; i < 150; i += 3) inputs.logits.table.select(1, i).narrow(1, 90, 60).fill_(200);
  inputs.logits.table[1].select(0, 7)[40] = 300;  // within the second sample, beyond the third
  expect_block_code_equals_plain(inputs, {}, "mixed");
  expect_block_code_equals_plain(inputs, {0.2, 9}, "mixed, dropout");
}

TEST(AttendUnderflowed, rows_in_several_blocks_of_columns) {
  Inputs inputs = make_inputs(table, {3, 1, 600, 600, 3});
  inputs.logits.table.narrow(2, 550, 50).fill_(200);
  const auto lengths = lengths_of({600, 540, 100});
  inputs.mask = {false, lengths, lengths};
  expect_block_code_equals_plain(inputs, {}, "600 columns");
}

TEST(AttendUnderflowed, rows_in_bfloat16) {
  const Inputs inputs = with_huge_columns(200, 90).to(at::kBFloat16);
  const auto grad = noise({4, 2, 150, 4}, 77).to(at::kBFloat16);
  expect_close(run(inputs, {}, grad), run(inputs.to(at::kDouble), {}, grad), 2e-2, "bfloat16");
}

TEST(AttendUnderflowed, values_laid_out_by_columns) {
  Inputs inputs = with_huge_columns(200, 90);
  inputs.value = inputs.value.transpose(2, 3).contiguous().transpose(2, 3);
  expect_block_code_equals_plain(inputs, {}, "transposed value");
}

TEST(AttendUnderflowed, one_row_for_all) {
  Inputs inputs = make_inputs(one_row_table, {3, 2, 1, 40, 4});
  inputs.logits.table.narrow(2, 20, 20).fill_(200);
  inputs.mask.column_lengths = lengths_of({40, 20, 5});
  expect_block_code_equals_plain(inputs, {}, "one row");
  inputs.logits.rows.reset();
  expect_block_code_equals_plain(inputs, {}, "as many rows as columns");
}

TEST(AttendUnderflowed, rows_of_shared_features_and_a_scaled_table) {
  for (int parts : {int{shared_row}, shared_row | table | table_scale}) {
    Inputs inputs = make_inputs(parts, {4, 2, 150, 150, 4});
    inputs.logits.column.narrow(1, 90, 60).fill_(300);  // of either sign, with the rows' features
    const auto lengths = lengths_of({150, 90, 45, 1});
    inputs.mask = {false, lengths, lengths};
    for (double dropout : {0.0, 0.3})
      expect_block_code_equals_plain(inputs, {dropout, 3}, parts_name(parts), 1e-3);
  }
}

}  // namespace
}  // namespace synthesizer::testing
