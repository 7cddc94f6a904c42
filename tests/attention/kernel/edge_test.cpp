// Small and empty ends of the operator: nothing to see, nothing to compute, nothing given.

#include "attention/kernel/problems.h"
#include "attention/layers.h"

namespace synthesizer::testing {
namespace {

void expect_finite(const Outcome& outcome, const std::string& what) {
  EXPECT_TRUE(outcome.result.isfinite().all().item<bool>()) << what;
  for (const auto& [name, gradient] : outcome.gradients) {
    ASSERT_TRUE(gradient.defined()) << what << ", gradient of " << name;
    EXPECT_TRUE(gradient.isfinite().all().item<bool>()) << what << ", gradient of " << name;
  }
}

TEST(AttendEdge, a_sample_of_length_zero_gives_zeros_and_takes_no_gradient) {
  for (int parts : kKinds) {
    for (bool causal : {false, true}) {
      for (auto dtype : {at::kFloat, at::kBFloat16, at::kDouble}) {
        Inputs inputs = make_inputs(parts, {2, 2, 5, 5, 4}).to(dtype);
        inputs.mask = {causal, lengths_of({0, 5}), lengths_of({0, 5})};
        const Outcome outcome = run(inputs);
        expect_finite(outcome, parts_name(parts));
        EXPECT_EQ(outcome.result[0].abs().max().item<double>(), 0) << parts_name(parts);
        for (const auto& [name, gradient] : outcome.gradients) {
          if (gradient.dim() != 4) continue;  // shared by the batch
          EXPECT_EQ(gradient[0].abs().max().item<double>(), 0) << parts_name(parts) << " " << name;
        }
      }
    }
  }
}

TEST(AttendEdge, a_batch_of_samples_of_length_zero_has_no_gradients_at_all) {
  for (int parts : kKinds) {
    for (auto dtype : {at::kFloat, at::kDouble}) {
      Inputs inputs = make_inputs(parts, {2, 2, 5, 5, 4}).to(dtype);
      inputs.mask = {false, lengths_of({0, 0}), lengths_of({0, 0})};
      for (const auto& [name, gradient] : run(inputs).gradients) {
        EXPECT_EQ(gradient.abs().max().item<double>(), 0) << parts_name(parts) << " " << name;
      }
    }
  }
}

TEST(AttendEdge, columns_without_weight_leave_rows_zero) {
  for (int parts : kKinds) {
    Inputs inputs = make_inputs(parts, {2, 2, 5, 5, 4});
    inputs.mask.column_lengths = lengths_of({0, 3});  // rows count, yet see nothing
    const Outcome outcome = run(inputs);
    expect_finite(outcome, parts_name(parts));
    EXPECT_EQ(outcome.result[0].abs().max().item<float>(), 0) << parts_name(parts);
  }
}

TEST(AttendEdge, an_empty_batch_gives_an_empty_result_and_zero_shared_gradients) {
  for (int parts : kKinds) {
    for (auto dtype : {at::kFloat, at::kDouble}) {
      const Outcome outcome = run(make_inputs(parts, {0, 2, 5, 5, 4}).to(dtype));
      EXPECT_EQ(outcome.result.sizes(), (at::IntArrayRef{0, 2, 5, 4})) << parts_name(parts);
      for (const auto& [name, gradient] : outcome.gradients) {
        ASSERT_TRUE(gradient.defined()) << parts_name(parts) << " " << name;
        EXPECT_TRUE(gradient.eq(0).all().item<bool>()) << parts_name(parts) << " " << name;
      }
    }
  }
}

TEST(AttendEdge, no_rows_and_no_columns_give_an_empty_result) {
  for (int parts : kKinds) {
    for (auto dtype : {at::kFloat, at::kDouble}) {
      const Outcome outcome = run(make_inputs(parts, {2, 2, 0, 0, 4}).to(dtype));
      EXPECT_EQ(outcome.result.sizes(), (at::IntArrayRef{2, 2, 0, 4})) << parts_name(parts);
    }
  }
}

TEST(AttendEdge, rows_against_no_columns_are_zero) {
  for (int parts : {query_key | 0, row_column | 0, table | 0}) {
    for (auto dtype : {at::kFloat, at::kDouble}) {
      const Outcome outcome = run(make_inputs(parts, {2, 2, 3, 0, 4}).to(dtype));
      EXPECT_TRUE(same_bits(outcome.result, at::zeros({2, 2, 3, 4}, dtype))) << parts_name(parts);
    }
  }
}

TEST(AttendEdge, one_column_takes_all_the_weight) {
  for (int parts : kKinds) {
    const Inputs inputs = make_inputs(parts, {3, 2, 6, 1, 4});
    const Outcome outcome = run(inputs);
    EXPECT_TRUE(close(outcome.result, inputs.value.expand({3, 2, 6, 4}), 1e-6)) << parts_name(parts);
    for (const auto& [name, gradient] : outcome.gradients) {
      if (name == "value") continue;
      EXPECT_LT(gradient.abs().max().item<float>(), 1e-5) << parts_name(parts) << " " << name;
    }
  }
}

TEST(AttendEdge, no_part_at_all_means_equal_weights) {
  const Inputs square = make_inputs(0, {2, 2, 5, 5, 4});
  for (auto dtype : {at::kFloat, at::kDouble}) {
    Inputs inputs = square.to(dtype);
    EXPECT_TRUE(close(run(inputs).result, inputs.value.mean(2, true).expand({2, 2, 5, 4}), 1e-6)) << dtype;
    inputs.mask.causal = true;
    const auto means = inputs.value.cumsum(2) / at::arange(1, 6, at::kFloat).view({5, 1});
    EXPECT_TRUE(close(run(inputs).result, means, 1e-6)) << dtype;
  }
}

TEST(AttendEdge, large_logits_of_either_sign_stay_finite) {
  for (int parts : kKinds) {
    Inputs inputs = make_inputs(parts, {2, 2, 130, 130, 4});
    for (auto& [name, tensor] : inputs.tensors()) *tensor = *tensor * (name == "value" ? 1 : 30);
    expect_finite(run(inputs), parts_name(parts));
    EXPECT_TRUE(close(run(inputs).result, run(inputs.to(at::kDouble)).result, 2e-2)) << parts_name(parts);
  }
}

TEST(AttendEdge, a_number_that_is_none_stays_visible) {
  for (int parts : kKinds) {
    Inputs inputs = make_inputs(parts, {1, 1, 5, 5, 4});
    inputs.value[0][0][2][1] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(attend(inputs.logits, inputs.mask, inputs.value).isnan().any().item<bool>())
        << parts_name(parts);
  }
}

}  // namespace
}  // namespace synthesizer::testing
