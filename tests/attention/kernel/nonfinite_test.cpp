// Numbers that are not finite: what PyTorch's softmax makes NaN is NaN here, forward and backward, and
// nothing else is. -infinity hides its column. The reference is the formula in ATen with autograd, in double
// precision.

#include <limits>

#include "attention/kernel/problems.h"
#include "attention/layers.h"

namespace synthesizer::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// softmax(S, hidden entries at -infinity) · V, as anybody would write it.
at::Tensor formula(const Inputs& in) {
  const Logits& l = in.logits;
  const int64_t rows = in.mask.causal ? in.value.size(2) : l.rows.value_or(-1), columns = in.value.size(2);
  at::Tensor s = at::zeros({1}, at::kDouble);
  if (l.query.defined()) s = s + at::matmul(l.query, l.key.transpose(-1, -2)) * l.scale;
  if (l.row.defined()) s = s + at::matmul(l.row, l.column.transpose(-1, -2));
  if (l.table.defined())
    s = s + (l.table_scale.defined() ? l.table * l.table_scale.view({-1, 1, 1}) : l.table);
  if (l.left.defined()) {
    const auto j = at::arange(columns), a = at::scalar_tensor(l.left.size(3), at::kLong);
    s = s + l.left.index_select(3, j.remainder(a)) * l.right.index_select(3, j.floor_divide(a));
  }
  if (rows >= 0 && s.size(-2) == 1) {
    std::vector<int64_t> shape = s.sizes().vec();
    shape[shape.size() - 2] = rows;
    s = s.expand(shape);
  }
  if (in.mask.causal) {
    s = s.masked_fill(at::ones({columns, columns}, at::kBool).triu(1), -kInfinity);
  }
  return at::matmul(at::softmax(s, -1), in.value);
}

Outcome run_formula(Inputs inputs) {
  inputs = inputs.to(at::kDouble);
  for (auto& [name, tensor] : inputs.tensors()) *tensor = tensor->detach().requires_grad_();
  Outcome outcome;
  outcome.result = formula(inputs);
  outcome.result.backward(noise(outcome.result.sizes(), 77).to(at::kDouble));
  for (auto& [name, tensor] : inputs.tensors()) outcome.gradients.emplace_back(name, tensor->grad());
  outcome.result = outcome.result.detach();
  return outcome;
}

void expect_same_numbers(const at::Tensor& actual, const at::Tensor& expected, const std::string& what) {
  const auto finite = actual.isfinite();
  EXPECT_TRUE(at::equal(finite, expected.isfinite()))
      << what << ": " << finite.logical_not().sum().item<int64_t>() << " numbers are not finite here, "
      << expected.isfinite().logical_not().sum().item<int64_t>() << " in PyTorch";
  EXPECT_TRUE(close(actual.to(at::kDouble).masked_fill(finite.logical_not(), 0),
                    expected.masked_fill(finite.logical_not(), 0), 2e-5, 1))
      << what;
}

/// float32 on the block code and float64 on the plain path.
void expect_as_pytorch(const Inputs& inputs, const std::string& what, const std::string& changed = "") {
  const Outcome expected = run_formula(inputs);
  for (auto dtype : {at::kFloat, at::kDouble}) {
    const Outcome actual = run(inputs.to(dtype));
    const std::string path = what + (dtype == at::kFloat ? ", block code" : ", plain path");
    expect_same_numbers(actual.result, expected.result, path + ", result");
    for (size_t i = 0; i < expected.gradients.size(); ++i) {
      // Hidden entries of a table are not read, whereas PyTorch's gradient of a scale is 0 · NaN there.
      if (inputs.mask.causal && changed == "table" && expected.gradients[i].first == "table_scale") continue;
      expect_same_numbers(actual.gradients[i].second, expected.gradients[i].second,
                          path + ", gradient of " + expected.gradients[i].first);
    }
  }
}

class AttendNonfinite : public ::testing::TestWithParam<std::tuple<int, bool, int64_t>> {};

TEST_P(AttendNonfinite, entries_are_seen_where_pytorch_sees_them) {
  const auto [parts, causal, n] = GetParam();
  Inputs clean = make_inputs(parts, {2, n > 100 ? 1 : 2, n, n, 4});
  clean.mask.causal = causal;
  for (double number : {kNaN, kInfinity, -kInfinity}) {
    for (size_t t = 0; t < clean.tensors().size(); ++t) {
      for (double place : {0.0, 0.4, 1.0}) {  // which entry: the first, one inside, the last
        if (n > 100 && place != 0.4) continue;
        Inputs inputs = clean;
        auto [name, tensor] = inputs.tensors()[t];
        *tensor = tensor->clone();
        tensor->view(-1)[static_cast<int64_t>(place * static_cast<double>(tensor->numel() - 1))] = number;
        expect_as_pytorch(inputs,
                          parts_name(parts) + ", " + std::to_string(number) + " in " + name + " at " +
                              std::to_string(place),
                          name);
      }
    }
  }
}

std::string nonfinite_name(const ::testing::TestParamInfo<AttendNonfinite::ParamType>& info) {
  return parts_name(std::get<0>(info.param)) + (std::get<1>(info.param) ? "_causal_" : "_") +
         std::to_string(std::get<2>(info.param));
}

INSTANTIATE_TEST_SUITE_P(All, AttendNonfinite,
                         ::testing::Combine(::testing::Values(query_key, row_column, table, one_row_table,
                                                              outer, query_key | table, shared_row,
                                                              query_key | shared_row | table | table_scale,
                                                              query_key | row_column | table | outer),
                                            ::testing::Bool(), ::testing::Values(1, 64, 600)),
                         nonfinite_name);

TEST(AttendNonfiniteTable, minus_infinity_hides_its_column) {
  for (int parts : {int{table}, query_key | table}) {
    Inputs inputs = make_inputs(parts, {2, 2, 70, 70, 4});
    inputs.logits.table.select(2, 3).fill_(-kInfinity);
    inputs.logits.table.narrow(2, 40, 30).fill_(-kInfinity);
    const auto seen = at::cat({at::arange(0, 3), at::arange(4, 40)});
    Inputs fewer = inputs;
    fewer.logits.table = inputs.logits.table.index_select(2, seen);
    fewer.value = inputs.value.index_select(2, seen);
    if (inputs.logits.key.defined()) fewer.logits.key = inputs.logits.key.index_select(2, seen);
    EXPECT_TRUE(close(run(inputs).result, run(fewer).result, 1e-5)) << parts_name(parts);
    for (const auto& [name, gradient] : run(inputs).gradients) {
      EXPECT_TRUE(gradient.isfinite().all().item<bool>()) << parts_name(parts) << " " << name;
    }
  }
}

TEST(AttendNonfiniteTable, rows_of_minus_infinity_alone_are_nan_even_over_several_blocks_of_columns) {
  Inputs inputs = make_inputs(query_key | table, {1, 1, 5, 1100, 4});
  inputs.logits.table[0][2].fill_(-kInfinity);                     // nothing is left
  inputs.logits.table[0][3].narrow(0, 0, 1090).fill_(-kInfinity);  // the last block has something
  expect_as_pytorch(inputs, "fused");
  inputs = make_inputs(table, {1, 1, 5, 1100, 4});
  inputs.logits.table[0][2].fill_(-kInfinity);
  inputs.logits.table[0][3].narrow(0, 0, 1090).fill_(-kInfinity);
  expect_as_pytorch(inputs, "global");
}

TEST(AttendNonfinitePadding, a_column_that_a_sample_does_not_have_does_not_reach_it) {
  for (double number : {kNaN, kInfinity, -kInfinity}) {
    for (double dropout : {0.0, 0.3}) {
      Inputs inputs = make_inputs(table, {3, 2, 60, 60, 4}), clean = inputs;
      inputs.logits.table = inputs.logits.table.clone();
      inputs.logits.table[1][7][50] = number;
      for (Inputs* in : {&inputs, &clean})
        in->mask = {false, lengths_of({60, 50, 20}), lengths_of({60, 50, 20})};
      const Outcome actual = run(inputs, {dropout, 5}), expected = run(clean, {dropout, 5});
      for (int64_t b : {1, 2}) {  // those without that column
        EXPECT_TRUE(close(actual.result[b], expected.result[b], 1e-5)) << number;
        EXPECT_TRUE(close(actual.gradients.back().second[b], expected.gradients.back().second[b], 1e-5));
      }
      const bool hides = number == -kInfinity;
      EXPECT_EQ(actual.result[0][1][7].isfinite().all().item<bool>(), hides) << number;
      EXPECT_TRUE(actual.result[0][1][8].isfinite().all().item<bool>()) << number;
      EXPECT_TRUE(actual.result[0][0].isfinite().all().item<bool>()) << number;
    }
  }
}

TEST(AttendNonfiniteWeights, made_ready_for_inference_show_it_too) {
  auto table_of_numbers = noise({2, 40, 40}, 1);
  table_of_numbers[1][20][10] = kNaN;
  table_of_numbers[1][21][30] = kNaN;  // hidden by the causal mask
  Logits logits;
  logits.table = table_of_numbers;
  const auto value = noise({1, 2, 40, 4}, 2);
  const auto y = attend_with_global_weights(global_weights(logits, true), {true, {}, {}}, value);
  const auto bad = y.isfinite().logical_not().any(-1);  // 1×H×L
  EXPECT_EQ(bad.sum().item<int64_t>(), 1);
  EXPECT_TRUE(bad[0][1][20].item<bool>());
}

}  // namespace
}  // namespace synthesizer::testing
