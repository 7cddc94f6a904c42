// Optimizers against their formulas in double precision, and their state taken up again.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

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

/// All parameters as weight matrices: they decay and have the learning rate that is given.
std::unique_ptr<Optimizer> make_matrix_optimizer(const TrainOptions& options, NamedTensors tensors) {
  const std::vector<Role> roles(tensors.size(), Role::matrix);
  return make_optimizer(options, group_parameters(options, std::move(tensors), roles));
}

class Adam : public ::testing::TestWithParam<bool> {};

TEST_P(Adam, FollowsItsFormula) {
  TrainOptions o;
  o.optimizer = GetParam() ? OptimizerKind::adamw : OptimizerKind::adam;
  o.weight_decay = 0.1;
  o.epsilon = 1e-8;
  auto parameter = at::linspace(-1, 1, 6).view({2, 3}).clone().requires_grad_();
  auto x = parameter.detach().to(at::kDouble), m = at::zeros_like(x), v = at::zeros_like(x);
  const auto optimizer = make_matrix_optimizer(o, {{"p", parameter}});
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

/// One step of Adafactor in double precision, entry by entry. `rows` and `columns`: the factored dimensions,
/// or equal where nothing is factored. `moments` are the running means of squared gradients: over `columns`,
/// over `rows`, of each entry.
struct AdafactorFormula {
  at::Tensor x, over_columns, over_rows, entry;
  int64_t rows, columns;

  void step(const at::Tensor& g, double rate, int step) {
    const double decay = 1 - std::pow(step, -0.8);
    const auto square = g * g + 1e-30;
    auto mix = [&](at::Tensor& mean, const at::Tensor& now) {
      mean = mean.defined() ? decay * mean + (1 - decay) * now : (1 - decay) * now;
    };
    at::Tensor second;
    if (rows == columns) {
      mix(entry, square);
      second = entry;
    } else {
      mix(over_columns, square.mean(columns, true));
      mix(over_rows, square.mean(rows, true));
      second = over_columns * over_rows / over_columns.mean(rows, true);
    }
    auto update = g / second.sqrt();
    update = update / std::max(1.0, std::sqrt(update.square().mean().item<double>()));
    x = x - rate * std::max(1e-3, std::sqrt(x.square().mean().item<double>())) * update;
  }
};

struct AdafactorCase {
  std::vector<int64_t> shape;
  int64_t rows, columns;  ///< the dimensions that Mesh TensorFlow factors; equal: none
};

class AdafactorShapes : public ::testing::TestWithParam<AdafactorCase> {};

TEST_P(AdafactorShapes, FollowTheFormula) {
  const auto& [shape, rows, columns] = GetParam();
  TrainOptions o;
  o.optimizer = OptimizerKind::adafactor;
  at::manual_seed(3);
  auto parameter = at::randn(shape).requires_grad_();
  AdafactorFormula formula{parameter.detach().to(at::kDouble), {}, {}, {}, rows, columns};
  const auto optimizer = make_matrix_optimizer(o, {{"p", parameter}});
  for (int step = 1; step <= 4; ++step) {
    set_gradient(parameter, step);
    optimizer->step(0.05, step);
    formula.step(gradient(step, shape).to(at::kDouble), 0.05, step);
    EXPECT_TRUE(at::allclose(parameter.detach().to(at::kDouble), formula.x, 1e-5, 1e-6)) << "step " << step;
  }
}

TEST_P(AdafactorShapes, KeepsARowAndAColumnOrEntries) {
  const auto& [shape, rows, columns] = GetParam();
  TrainOptions o;
  o.optimizer = OptimizerKind::adafactor;
  const auto state = make_matrix_optimizer(o, {{"p", at::ones(shape).requires_grad_()}})->state();
  if (rows == columns) {
    ASSERT_EQ(state.size(), 1u);
    EXPECT_EQ(state[0].name, "p.entry");
    EXPECT_EQ(state[0].tensor.sizes(), at::IntArrayRef(shape));
    return;
  }
  ASSERT_EQ(state.size(), 2u);
  EXPECT_EQ(state[0].name, "p.row");
  EXPECT_EQ(state[1].name, "p.column");
  EXPECT_EQ(state[0].tensor.sizes(), at::ones(shape).sum(columns).sizes());
  EXPECT_EQ(state[1].tensor.sizes(), at::ones(shape).sum(rows).sizes());
}

INSTANTIATE_TEST_SUITE_P(FactoredFrom128On, AdafactorShapes,
                         ::testing::Values(AdafactorCase{{128, 128}, 0, 1}, AdafactorCase{{200, 129}, 0, 1},
                                           AdafactorCase{{127, 300}, 0, 0}, AdafactorCase{{2, 3}, 0, 0},
                                           AdafactorCase{{7}, 0, 0}, AdafactorCase{{3, 130, 140}, 1, 2},
                                           AdafactorCase{{130, 3, 140}, 0, 2},
                                           AdafactorCase{{2, 64, 256}, 0, 0}));

class EveryOptimizer : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryOptimizer, TakesUpItsStateBitForBit) {
  TrainOptions o;
  o.optimizer = choose<OptimizerKind>("optimizer", GetParam());
  auto a = at::ones({3, 4}).requires_grad_(), b = at::ones({3, 4}).requires_grad_();
  const auto first = make_matrix_optimizer(o, {{"p", a}});
  for (int step = 1; step <= 3; ++step) {
    set_gradient(a, step);
    first->step(0.1, step);
  }
  const auto second = make_matrix_optimizer(o, {{"p", b}});
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
  o.optimizer = choose<OptimizerKind>("optimizer", GetParam());
  o.epsilon = 1e-2;  // so that sizes matter to Adam from the first step
  auto a = at::ones({3, 4}).requires_grad_(), b = at::ones({3, 4}).requires_grad_();
  const auto scaled = make_matrix_optimizer(o, {{"p", a}}), plain = make_matrix_optimizer(o, {{"p", b}});
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
  o.optimizer = choose<OptimizerKind>("optimizer", GetParam());
  auto a = at::ones({2, 2}).requires_grad_();
  make_matrix_optimizer(o, {{"p", a}})->step(0.1, 1);
  EXPECT_TRUE(at::equal(a, at::ones({2, 2})));
}
INSTANTIATE_TEST_SUITE_P(All, EveryOptimizer, ::testing::Values("adam", "adamw", "adafactor"));

constexpr Role kRoles[] = {Role::matrix, Role::embedding, Role::bias, Role::norm, Role::logits};

/// What the table in docs/training.md says of a role.
double expected_decay(Role role, double decay) {
  return role == Role::matrix || role == Role::embedding ? decay : 0;
}
double expected_factor(Role role, double logits) {
  return role == Role::logits ? logits : 1;
}

/// One parameter of every role, a matrix or a vector, and the optimizer of all of them.
struct OneOfEach {
  OneOfEach(const TrainOptions& options, at::IntArrayRef shape) {
    NamedTensors tensors;
    const auto start = (at::arange(6).to(at::kFloat) / 3 - 0.5).view(shape);
    for (const Role role : kRoles) {
      parameters.push_back(start.clone().requires_grad_());
      tensors.push_back({std::to_string(static_cast<int>(role)), parameters.back()});
    }
    optimizer = make_optimizer(options, group_parameters(options, tensors, {kRoles, kRoles + 5}));
  }
  void step(double learning_rate, int number) {
    for (at::Tensor& parameter : parameters) set_gradient(parameter, number);
    optimizer->step(learning_rate, number);
  }

  std::vector<at::Tensor> parameters;
  std::unique_ptr<Optimizer> optimizer;
};

std::vector<double> numbers(const at::Tensor& tensor) {
  const auto flat = tensor.detach().to(at::kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

double root_mean_square(const std::vector<double>& x) {
  double sum = 0;
  for (const double one : x) sum += one * one;
  return std::sqrt(sum / static_cast<double>(x.size()));
}

TEST_P(Adam, TreatsEveryGroupByItsOwnSettings) {
  TrainOptions o;
  o.optimizer = GetParam() ? OptimizerKind::adamw : OptimizerKind::adam;
  o.weight_decay = 0.1;
  o.logit_learning_rate = 30;
  OneOfEach each(o, {2, 3});
  struct Moments {
    std::vector<double> x, m, v;
  };
  std::vector<Moments> expected;
  for (const at::Tensor& parameter : each.parameters)
    expected.push_back({numbers(parameter), std::vector<double>(6), std::vector<double>(6)});
  for (int step = 1; step <= 4; ++step) {
    each.step(0.01, step);
    const auto gradients = numbers(gradient(step, {2, 3}));
    for (size_t r = 0; r < std::size(kRoles); ++r) {
      const double decay = expected_decay(kRoles[r], 0.1), rate = 0.01 * expected_factor(kRoles[r], 30);
      const auto found = numbers(each.parameters[r]);
      auto& [x, m, v] = expected[r];
      for (size_t i = 0; i < x.size(); ++i) {
        const double g = gradients[i] + (GetParam() ? 0 : decay * x[i]);
        if (GetParam()) x[i] -= rate * decay * x[i];
        m[i] = o.beta1 * m[i] + (1 - o.beta1) * g;
        v[i] = o.beta2 * v[i] + (1 - o.beta2) * g * g;
        x[i] -= rate * m[i] / (1 - std::pow(o.beta1, step)) /
                (std::sqrt(v[i] / (1 - std::pow(o.beta2, step))) + o.epsilon);
        EXPECT_NEAR(found[i], x[i], 1e-5) << "role " << r << ", step " << step;
      }
    }
  }
}

TEST_P(Adam, MovesLogitsByTheFactorInItsFirstStep) {
  TrainOptions o;
  o.optimizer = GetParam() ? OptimizerKind::adamw : OptimizerKind::adam;
  o.logit_learning_rate = 30;
  OneOfEach each(o, {6});
  const auto start = numbers(each.parameters[0]);
  each.step(1e-3, 1);
  const auto bias = numbers(each.parameters[2]), logits = numbers(each.parameters[4]);
  for (size_t i = 0; i < start.size(); ++i) {
    EXPECT_NEAR(std::abs(bias[i] - start[i]), 1e-3, 1e-6);
    EXPECT_NEAR(logits[i] - start[i], 30 * (bias[i] - start[i]), 1e-5);
  }
}

TEST(Adafactor, TreatsEveryGroupByItsOwnSettings) {
  TrainOptions o;
  o.optimizer = OptimizerKind::adafactor;
  o.weight_decay = 0.1;
  o.logit_learning_rate = 30;
  OneOfEach each(o, {6});  // vectors: a second moment for each entry
  std::vector<std::vector<double>> expected, moments(std::size(kRoles), std::vector<double>(6));
  for (const at::Tensor& parameter : each.parameters) expected.push_back(numbers(parameter));
  for (int step = 1; step <= 4; ++step) {
    each.step(0.01, step);
    const auto gradients = numbers(gradient(step, {6}));
    const double forget = 1 - std::pow(step, -0.8);
    for (size_t r = 0; r < std::size(kRoles); ++r) {
      auto& x = expected[r];
      std::vector<double> update;
      for (size_t i = 0; i < x.size(); ++i) {
        moments[r][i] = forget * moments[r][i] + (1 - forget) * (gradients[i] * gradients[i] + 1e-30);
        update.push_back(gradients[i] / std::sqrt(moments[r][i]));
      }
      const double rate = 0.01 * expected_factor(kRoles[r], 30) * std::max(1e-3, root_mean_square(x));
      const double shrink = std::max(1.0, root_mean_square(update));
      const auto found = numbers(each.parameters[r]);
      for (size_t i = 0; i < x.size(); ++i) {
        x[i] -= rate * expected_decay(kRoles[r], 0.1) * x[i] + rate * update[i] / shrink;
        EXPECT_NEAR(found[i], x[i], 1e-5) << "role " << r << ", step " << step;
      }
    }
  }
}

TEST(ParameterGroups, KeepTheOrderAndCountWhatTheyHold) {
  TrainOptions o;
  o.weight_decay = 0.1;
  o.logit_learning_rate = 30;
  const NamedTensors tensors = {{"b", at::ones({3})},
                                {"t", at::ones({2, 5})},
                                {"w", at::ones({4, 3})},
                                {"n", at::ones({3})},
                                {"e", at::ones({7, 3})}};
  const auto all =
      group_parameters(o, tensors, {Role::bias, Role::logits, Role::matrix, Role::norm, Role::embedding});
  for (size_t i = 0; i < tensors.size(); ++i) EXPECT_EQ(all.tensors[i].name, tensors[i].name);
  ASSERT_EQ(all.groups.size(), 3u);
  EXPECT_EQ(
      to_json(all.groups).dump(),
      R"([{"name":"matrices","tensors":2,"parameters":33,"learning_rate_factor":1.0,"weight_decay":0.1},)"
      R"({"name":"vectors","tensors":2,"parameters":6,"learning_rate_factor":1.0,"weight_decay":0.0},)"
      R"({"name":"logits","tensors":1,"parameters":10,"learning_rate_factor":30.0,"weight_decay":0.0}])");
  EXPECT_EQ(all.of(0).name, "vectors");
  EXPECT_EQ(all.of(1).name, "logits");
  EXPECT_EQ(all.of(4).name, "matrices");
}

TEST_P(EveryOptimizer, NamesItsStateInTheOrderOfTheModel) {
  TrainOptions o;
  o.optimizer = choose<OptimizerKind>("optimizer", GetParam());
  const NamedTensors tensors = {{"table", at::ones({2}).requires_grad_()},
                                {"weight", at::ones({2}).requires_grad_()},
                                {"bias", at::ones({2}).requires_grad_()}};
  const auto optimizer =
      make_optimizer(o, group_parameters(o, tensors, {Role::logits, Role::matrix, Role::bias}));
  std::vector<std::string> owners;
  for (const NamedTensor& one : optimizer->state()) {
    const std::string owner = one.name.substr(0, one.name.rfind('.'));
    if (owners.empty() || owners.back() != owner) owners.push_back(owner);
  }
  EXPECT_EQ(owners, (std::vector<std::string>{"table", "weight", "bias"}));
}

TEST(Schedule, IsWhatItsNameSays) {
  TrainOptions o;
  o.learning_rate = 2;
  o.warmup = 100;
  o.steps = 1100;
  o.final_learning_rate = 0.5;
  auto rate = [&](const char* name, int64_t step) {
    o.schedule = choose<Schedule>("schedule", name);
    return learning_rate(o, 512, step);
  };
  for (const char* name : {"inverse-sqrt", "linear", "cosine", "constant"}) {
    EXPECT_DOUBLE_EQ(rate(name, 1), 0.02) << name;
    EXPECT_DOUBLE_EQ(rate(name, 50), 1) << name;
    EXPECT_DOUBLE_EQ(rate(name, 100), 2) << name;
  }
  EXPECT_DOUBLE_EQ(rate("constant", 900), 2);
  EXPECT_DOUBLE_EQ(rate("inverse-sqrt", 400), 1);
  for (const int64_t step : {1, 50, 100}) EXPECT_DOUBLE_EQ(rate("t5", step), 2);
  EXPECT_DOUBLE_EQ(rate("t5", 400), 1);
  EXPECT_DOUBLE_EQ(rate("linear", 600), 1.25);
  EXPECT_DOUBLE_EQ(rate("linear", 1100), 0.5);
  EXPECT_NEAR(rate("cosine", 600), 1.25, 1e-12);
  EXPECT_NEAR(rate("cosine", 1100), 0.5, 1e-12);
  EXPECT_NEAR(rate("noam", 100), 2 / std::sqrt(512.0) / 10, 1e-12);
  EXPECT_NEAR(rate("noam", 50), 2 / std::sqrt(512.0) / 20, 1e-12);
  EXPECT_NEAR(rate("noam", 400), 2 / std::sqrt(512.0) / 20, 1e-12);
}

// T5's learning rate, 1 / √max(n, 10⁴), as recipes/paper/c4.toml writes it.
TEST(Schedule, T5sLearningRate) {
  TrainOptions o;
  o.learning_rate = 1e-2;
  o.warmup = 10000;
  o.schedule = Schedule::t5;
  for (const int64_t n : {1, 9999, 10000, 10001, 524288}) {
    const double expected = 1 / std::sqrt(std::max(static_cast<double>(n), 1e4));
    EXPECT_NEAR(learning_rate(o, 768, n), expected, 1e-15);
  }
}

}  // namespace
}  // namespace synthesizer
