// Optimizers against their formulas in double precision, and their state taken up again.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "train/optimizer.h"
#include "train/schedule.h"

namespace synthesizer {
namespace {

at::Tensor gradient(int step, at::IntArrayRef shape) {
  at::manual_seed(static_cast<uint64_t>(100 + step));
  return at::randn(shape);
}

void set_gradient(at::Tensor& parameter, int step) {
  parameter.mutable_grad() = gradient(step, parameter.sizes());
}

class Adam : public ::testing::TestWithParam<bool> {};

TEST_P(Adam, FollowsItsFormula) {
  TrainOptions o;
  o.optimizer = GetParam() ? "adamw" : "adam";
  o.weight_decay = 0.1;
  o.epsilon = 1e-8;
  auto parameter = at::linspace(-1, 1, 6).view({2, 3}).clone().requires_grad_();
  auto x = parameter.detach().to(at::kDouble), m = at::zeros_like(x), v = at::zeros_like(x);
  const auto optimizer = make_optimizer(o, {{"p", parameter}});
  for (int step = 1; step <= 5; ++step) {
    set_gradient(parameter, step);
    optimizer->step(0.01, step);
    auto g = gradient(step, {2, 3}).to(at::kDouble);
    if (GetParam()) {
      x = x * (1 - 0.01 * 0.1);
    } else {
      g = g + 0.1 * x;
    }
    m = o.beta1 * m + (1 - o.beta1) * g;
    v = o.beta2 * v + (1 - o.beta2) * g * g;
    const auto m_hat = m / (1 - std::pow(o.beta1, step)), v_hat = v / (1 - std::pow(o.beta2, step));
    x = x - 0.01 * m_hat / (v_hat.sqrt() + o.epsilon);
    EXPECT_TRUE(at::allclose(parameter.detach().to(at::kDouble), x, 1e-5, 1e-6)) << "step " << step;
  }
}
INSTANTIATE_TEST_SUITE_P(Both, Adam, ::testing::Bool());

TEST(Adafactor, FollowsItsFormulaForAMatrix) {
  TrainOptions o;
  o.optimizer = "adafactor";
  auto parameter = (at::arange(6).to(at::kFloat) / 3).view({2, 3}).clone().requires_grad_();
  auto x = parameter.detach().to(at::kDouble);
  auto rows = at::zeros({2}, at::kDouble), columns = at::zeros({3}, at::kDouble);
  const auto optimizer = make_optimizer(o, {{"p", parameter}});
  for (int step = 1; step <= 4; ++step) {
    set_gradient(parameter, step);
    optimizer->step(0.05, step);
    const auto g = gradient(step, {2, 3}).to(at::kDouble);
    const double decay = 1 - std::pow(step, -0.8);
    rows = decay * rows + (1 - decay) * (g * g + 1e-30).mean(1);
    columns = decay * columns + (1 - decay) * (g * g + 1e-30).mean(0);
    const auto second = rows.outer(columns) / rows.mean();
    auto update = g / second.sqrt();
    update = update / std::max(1.0, std::sqrt(update.square().mean().item<double>()));
    x = x - 0.05 * std::max(1e-3, std::sqrt(x.square().mean().item<double>())) * update;
    EXPECT_TRUE(at::allclose(parameter.detach().to(at::kDouble), x, 1e-5, 1e-6)) << "step " << step;
  }
}

TEST(Adafactor, KeepsARowAndAColumnOfAMatrixAndEntriesOfAVector) {
  TrainOptions o;
  o.optimizer = "adafactor";
  const auto optimizer = make_optimizer(
      o, {{"table", at::ones({4, 5, 6}).requires_grad_()}, {"bias", at::ones({7}).requires_grad_()}});
  const auto state = optimizer->state();
  ASSERT_EQ(state.size(), 3u);
  EXPECT_EQ(state[0].name, "table.row");
  EXPECT_EQ(state[0].tensor.sizes(), (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(state[1].tensor.sizes(), (std::vector<int64_t>{4, 6}));
  EXPECT_EQ(state[2].name, "bias.entry");
}

class EveryOptimizer : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryOptimizer, TakesUpItsStateBitForBit) {
  TrainOptions o;
  o.optimizer = GetParam();
  auto a = at::ones({3, 4}).requires_grad_(), b = at::ones({3, 4}).requires_grad_();
  const auto first = make_optimizer(o, {{"p", a}});
  for (int step = 1; step <= 3; ++step) {
    set_gradient(a, step);
    first->step(0.1, step);
  }
  const auto second = make_optimizer(o, {{"p", b}});
  {
    c10::NoGradGuard no_grad;
    b.copy_(a);
    const auto from = first->state(), to = second->state();
    for (size_t i = 0; i < from.size(); ++i) at::Tensor(to[i].tensor).copy_(from[i].tensor);
  }
  set_gradient(a, 4);
  set_gradient(b, 4);
  first->step(0.1, 4);
  second->step(0.1, 4);
  EXPECT_TRUE(at::equal(a, b));
}

TEST_P(EveryOptimizer, TakesGradientsByTheirScale) {
  TrainOptions o;
  o.optimizer = GetParam();
  o.epsilon = 1e-2;  // so that sizes matter to Adam from the first step
  auto a = at::ones({3, 4}).requires_grad_(), b = at::ones({3, 4}).requires_grad_();
  const auto scaled = make_optimizer(o, {{"p", a}}), plain = make_optimizer(o, {{"p", b}});
  for (int step = 1; step <= 3; ++step) {
    set_gradient(a, step);
    set_gradient(b, step);
    b.mutable_grad() = b.grad() * 0.3 * step;
    scaled->step(0.1, step, 0.3 * step);
    plain->step(0.1, step);
  }
  EXPECT_TRUE(at::allclose(a, b, 1e-5, 1e-6));
  EXPECT_FALSE(at::allclose(a, at::ones({3, 4}), 1e-3, 1e-3));
}

TEST_P(EveryOptimizer, LeavesAloneWhatHasNoGradient) {
  TrainOptions o;
  o.optimizer = GetParam();
  auto a = at::ones({2, 2}).requires_grad_();
  make_optimizer(o, {{"p", a}})->step(0.1, 1);
  EXPECT_TRUE(at::equal(a, at::ones({2, 2})));
}
INSTANTIATE_TEST_SUITE_P(All, EveryOptimizer, ::testing::Values("adam", "adamw", "adafactor"));

TEST(Schedule, IsWhatItsNameSays) {
  TrainOptions o;
  o.learning_rate = 2;
  o.warmup = 100;
  o.steps = 1100;
  o.final_learning_rate = 0.5;
  auto rate = [&](const char* name, int64_t step) {
    o.schedule = name;
    return learning_rate(o, 512, step);
  };
  for (const char* name : {"inverse-sqrt", "linear", "cosine", "constant"}) {
    EXPECT_DOUBLE_EQ(rate(name, 1), 0.02) << name;
    EXPECT_DOUBLE_EQ(rate(name, 50), 1) << name;
    EXPECT_DOUBLE_EQ(rate(name, 100), 2) << name;
  }
  EXPECT_DOUBLE_EQ(rate("constant", 900), 2);
  EXPECT_DOUBLE_EQ(rate("inverse-sqrt", 400), 1);
  EXPECT_DOUBLE_EQ(rate("linear", 600), 1.25);
  EXPECT_DOUBLE_EQ(rate("linear", 1100), 0.5);
  EXPECT_NEAR(rate("cosine", 600), 1.25, 1e-12);
  EXPECT_NEAR(rate("cosine", 1100), 0.5, 1e-12);
  EXPECT_NEAR(rate("noam", 100), 2 / std::sqrt(512.0) / 10, 1e-12);
  EXPECT_NEAR(rate("noam", 50), 2 / std::sqrt(512.0) / 20, 1e-12);
  EXPECT_NEAR(rate("noam", 400), 2 / std::sqrt(512.0) / 20, 1e-12);
}

}  // namespace
}  // namespace synthesizer
