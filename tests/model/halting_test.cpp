// Adaptive halting against loops over positions in double, its gradients, and the two ends of its range.

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "model/halting.h"
#include "model/models.h"
#include "model/stack.h"

namespace synthesizer::testing {
namespace {

constexpr int64_t kDepth = 5, kRows = 6, kWidth = 16;

ModelOptions halting_model(const std::string& attention, double threshold) {
  ModelOptions o = small_model(attention);
  o.recurrent_depth = kDepth;
  o.halting_threshold = threshold;
  return o;
}

/// A stack in double whose positions stop at different times.
std::unique_ptr<Stack> make_stack(const ModelOptions& options, Side side) {
  at::manual_seed(11);
  auto stack = std::make_unique<Stack>(options, side, false);
  stack->eval();
  stack->to(at::kDouble);
  c10::NoGradGuard no_grad;
  if (options.halting_threshold > 0) {
    stack->named_parameters()["halting_weight"].normal_(0, 0.6);
    stack->named_parameters()["halting_bias"].fill_(-0.8);
  }
  return stack;
}

struct Pondered {
  at::Tensor output;           // B×L×D, before the norm
  double cost = 0, steps = 0;  // means over positions that are not padding
};

/// The formulas, position by position; only the layer itself is the library's.
Pondered by_loops(Stack& stack, const at::Tensor& x, const at::Tensor& lengths, double threshold) {
  const int64_t batch = x.size(0);
  const auto positions = sinusoids(kRows, kWidth).to(at::kDouble),
             times = sinusoids(kDepth, kWidth).to(at::kDouble);
  const auto w = stack.named_parameters()["halting_weight"].detach();
  const double b = stack.named_parameters()["halting_bias"].detach().item<double>();
  auto state = (x + positions).clone(), output = at::zeros_like(x);
  std::vector<double> sum(static_cast<size_t>(batch * kRows)), cost = sum, steps = sum;
  std::vector<bool> running(sum.size(), true);
  for (int64_t n = 0; n < kDepth; ++n) {
    const auto entering = n == 0 ? state + times[0] : state + times[n] + positions;
    const auto after = stack.layers()[0]->forward(entering, lengths, {});
    for (int64_t r = 0; r < batch; ++r) {
      for (int64_t i = 0; i < kRows; ++i) {
        const auto place = static_cast<size_t>(r * kRows + i);
        if (!running[place]) continue;
        double score = b;
        for (int64_t c = 0; c < kWidth; ++c) score += w[c].item<double>() * entering[r][i][c].item<double>();
        const double p = 1 / (1 + std::exp(-score));
        const bool stops = n + 1 == kDepth || sum[place] + p > threshold;
        const double share = stops ? 1 - sum[place] : p;
        output[r][i] += share * after[r][i];
        state[r][i].copy_(after[r][i]);
        steps[place] += 1;
        cost[place] += 1 + (stops ? share : 0);
        sum[place] += p;
        running[place] = !stops;
      }
    }
  }
  Pondered found{output};
  double count = 0;
  for (int64_t r = 0; r < batch; ++r) {
    for (int64_t i = 0; i < lengths[r].item<int64_t>(); ++i, ++count) {
      found.cost += cost[static_cast<size_t>(r * kRows + i)];
      found.steps += steps[static_cast<size_t>(r * kRows + i)];
    }
  }
  found.cost /= count;
  found.steps /= count;
  return found;
}

at::Tensor normed(const Stack& stack, const at::Tensor& y) {
  return at::layer_norm(y, {kWidth}, stack.named_parameters()["norm.weight"],
                        stack.named_parameters()["norm.bias"], 1e-5);
}

TEST(Halting, FollowsItsFormulaInDouble) {
  for (const double threshold : {0.3, 0.9, 0.99}) {
    for (const Side side : {Side::encoder, Side::decoder}) {
      const auto stack = make_stack(halting_model("R+V", threshold), side);
      c10::NoGradGuard no_grad;
      const auto x = at::randn({2, kRows, kWidth}, at::kDouble), lengths = at::tensor({6, 4}, at::kLong);
      const PonderScope pondered;
      const auto y = stack->forward(x, lengths);
      const Pondered expected = by_loops(*stack, x, lengths, threshold);
      ASSERT_EQ(pondered.entries().size(), 1u);
      EXPECT_NEAR(pondered.entries()[0].cost.item<double>(), expected.cost, 1e-10);
      EXPECT_NEAR(pondered.entries()[0].steps, expected.steps, 1e-12);
      EXPECT_GT(expected.steps, 1);  // the case is not a trivial one
      EXPECT_LT(expected.steps, kDepth);
      EXPECT_TRUE(at::allclose(y, normed(*stack, expected.output), 1e-9, 1e-10)) << threshold;
    }
  }
}

TEST(Halting, HasTheGradientsOfFiniteDifferences) {
  const auto stack = make_stack(halting_model("V", 0.9), Side::encoder);
  at::manual_seed(5);
  const auto x = at::randn({2, kRows, kWidth}, at::kDouble),
             along = at::randn({2, kRows, kWidth}, at::kDouble);
  auto objective = [&] {
    const PonderScope pondered;
    const auto y = stack->forward(x, {});
    return (y * along).sum() + 0.7 * pondered.entries().at(0).cost;
  };
  for (const char* name : {"halting_weight", "halting_bias"}) {
    auto parameter = stack->named_parameters()[name];
    stack->zero_grad();
    objective().backward();
    const auto gradient = parameter.grad().clone();
    EXPECT_GT(gradient.abs().sum().item<double>(), 1e-3);
    c10::NoGradGuard no_grad;
    for (int64_t c = 0; c < parameter.numel(); ++c) {
      constexpr double kStep = 1e-6;
      auto entry = parameter[c];
      entry.add_(kStep);
      const double above = objective().item<double>();
      entry.sub_(2 * kStep);
      const double below = objective().item<double>();
      entry.add_(kStep);
      EXPECT_NEAR(gradient[c].item<double>(), (above - below) / (2 * kStep), 1e-5) << name << " " << c;
    }
  }
}

TEST(Halting, OfOneApplicationChangesNothing) {
  ModelOptions options = halting_model("R", 0.5);
  options.recurrent_depth = 1;
  const auto adaptive = make_stack(options, Side::encoder);
  options.halting_threshold = 0;
  const auto fixed = make_stack(options, Side::encoder);
  c10::NoGradGuard no_grad;
  for (const auto& parameter : fixed->named_parameters()) {
    parameter.value().copy_(adaptive->named_parameters()[parameter.key()]);
  }
  const auto x = at::randn({2, kRows, kWidth}, at::kDouble);
  EXPECT_TRUE(at::allclose(adaptive->forward(x, {}), fixed->forward(x, {}), 0, 1e-14));
}

TEST(Halting, ReportsToTheInnermostScopeAlone) {
  const auto stack = make_stack(halting_model("V", 0.9), Side::encoder);
  c10::NoGradGuard no_grad;
  const auto x = at::randn({1, kRows, kWidth}, at::kDouble);
  const PonderScope outer;
  {
    const PonderScope inner;
    stack->forward(x, {});
    EXPECT_EQ(inner.entries().size(), 1u);
  }
  EXPECT_TRUE(outer.entries().empty());
}

TEST(Halting, NeedsARecurrentLayerAndAThresholdBelowOne) {
  ModelOptions options = small_model();
  options.halting_threshold = 0.9;
  EXPECT_THROW(check(options), InvalidInput);
  options.recurrent_depth = 2;
  check(options);
  options.halting_threshold = 1;
  EXPECT_THROW(check(options), InvalidInput);
}

}  // namespace
}  // namespace synthesizer::testing
