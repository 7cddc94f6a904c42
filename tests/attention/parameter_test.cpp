// Names and shapes that other people rely on, and what parameters start from.

#include "attention/parameter.h"

#include <map>

#include "attention/baselines.h"
#include "attention/baselines/cases.h"
#include "attention/layers.h"
#include "attention/multi_head_attention.h"

namespace synthesizer::testing {
namespace {

constexpr int64_t kWidth = 12, kHeads = 3, kHeadWidth = 4, kLength = 20;
using Shapes = std::map<std::string, std::vector<int64_t>>;

Attention layer(const std::string& spec, OptionMap given = {}, bool bias = false) {
  return Attention(AttentionOptions{.attention = spec,
                                    .width = kWidth,
                                    .heads = kHeads,
                                    .max_length = kLength,
                                    .bias = bias,
                                    .options = std::move(given)});
}

Shapes shapes(const torch::OrderedDict<std::string, at::Tensor>& tensors, bool projections = false) {
  Shapes all;
  for (const auto& item : tensors) {
    if (projections || item.key().starts_with("logits.")) all[item.key()] = item.value().sizes().vec();
  }
  return all;
}
Shapes trained(const Attention& layer) {
  return shapes(layer->named_parameters());
}

TEST(ParameterNames, of_projections) {
  EXPECT_EQ(shapes(layer("Fix")->named_parameters(), true),
            (Shapes{{"value.weight", {kWidth, kWidth}}, {"output.weight", {kWidth, kWidth}}}));
  EXPECT_EQ(shapes(layer("Fix", {}, true)->named_parameters(), true),
            (Shapes{{"value.weight", {kWidth, kWidth}},
                    {"output.weight", {kWidth, kWidth}},
                    {"value.bias", {kWidth}},
                    {"output.bias", {kWidth}}}));
}

TEST(ParameterNames, of_each_variant) {
  EXPECT_EQ(trained(layer("V")),
            (Shapes{{"logits.V.query.weight", {kWidth, kWidth}}, {"logits.V.key.weight", {kWidth, kWidth}}}));
  EXPECT_EQ(trained(layer("D")), (Shapes{{"logits.D.hidden.weight", {kWidth, kWidth}},
                                         {"logits.D.hidden.bias", {kWidth}},
                                         {"logits.D.out.weight", {kHeads, kHeadWidth, kLength}},
                                         {"logits.D.out.bias", {kHeads, kLength}}}));
  EXPECT_EQ(trained(layer("R")), (Shapes{{"logits.R.table", {kHeads, kLength, kLength}}}));
  EXPECT_EQ(trained(layer("Fix")), Shapes{});
  EXPECT_EQ(shapes(layer("Fix")->named_buffers(), true),
            (Shapes{{"logits.Fix.table", {kHeads, kLength, kLength}}}));
  EXPECT_EQ(trained(layer("FR")),
            (Shapes{{"logits.FR.left", {kHeads, kLength, 8}}, {"logits.FR.right", {kHeads, kLength, 8}}}));
  EXPECT_EQ(trained(layer("FD")), (Shapes{{"logits.FD.hidden.weight", {kWidth, kWidth}},
                                          {"logits.FD.hidden.bias", {kWidth}},
                                          {"logits.FD.a.weight", {kHeads, kHeadWidth, 4}},
                                          {"logits.FD.a.bias", {kHeads, 4}},
                                          {"logits.FD.b.weight", {kHeads, kHeadWidth, 5}},
                                          {"logits.FD.b.bias", {kHeads, 5}}}));
}

TEST(ParameterNames, of_options) {
  EXPECT_EQ(trained(layer("D", {{"share_heads", true}}))["logits.D.out.weight"],
            (std::vector<int64_t>{kHeadWidth, kLength}));
  EXPECT_EQ(trained(layer("D", {{"share_heads", true}}))["logits.D.out.bias"],
            (std::vector<int64_t>{kLength}));
  EXPECT_EQ(
      trained(layer("D", {{"hidden", int64_t{0}}})),
      (Shapes{{"logits.D.out.weight", {kHeads, kWidth, kLength}}, {"logits.D.out.bias", {kHeads, kLength}}}));
  EXPECT_EQ(trained(layer("FR", {{"rank", int64_t{3}}}))["logits.FR.left"],
            (std::vector<int64_t>{kHeads, kLength, 3}));
  EXPECT_EQ(trained(layer("FD", {{"b", int64_t{2}}}))["logits.FD.a.bias"],
            (std::vector<int64_t>{kHeads, 10}));
}

TEST(ParameterNames, of_mixtures) {
  EXPECT_EQ(trained(layer("R+V")), (Shapes{{"logits.R.table", {kHeads, kLength, kLength}},
                                           {"logits.V.query.weight", {kWidth, kWidth}},
                                           {"logits.V.key.weight", {kWidth, kWidth}},
                                           {"logits.mixture", {2}}}));
  EXPECT_EQ(trained(layer("R+FR+V", {{"weights", std::string("learned-per-head")}}))["logits.mixture"],
            (std::vector<int64_t>{kHeads, 3}));
  EXPECT_EQ(trained(layer("R+V", {{"weights", std::string("sum")}})).count("logits.mixture"), 0u);
}

/// By the name in a layer. A new variant is not there yet: it fails until somebody has written down its
/// roles.
const std::map<std::string, Role>& roles_by_name() {
  static const std::map<std::string, Role> roles = {
      {"value.weight", Role::matrix},
      {"value.bias", Role::bias},
      {"output.weight", Role::matrix},
      {"output.bias", Role::bias},
      {"logits.V.query.weight", Role::matrix},
      {"logits.V.key.weight", Role::matrix},
      {"logits.D.hidden.weight", Role::matrix},
      {"logits.D.hidden.bias", Role::bias},
      {"logits.D.out.weight", Role::matrix},
      {"logits.D.out.bias", Role::logits},
      {"logits.R.table", Role::logits},
      {"logits.Fix.table", Role::logits},
      {"logits.FR.left", Role::logits},
      {"logits.FR.right", Role::logits},
      {"logits.FD.hidden.weight", Role::matrix},
      {"logits.FD.hidden.bias", Role::bias},
      {"logits.FD.a.weight", Role::matrix},
      {"logits.FD.a.bias", Role::logits},
      {"logits.FD.b.weight", Role::matrix},
      {"logits.FD.b.bias", Role::logits},
      {"logits.mixture", Role::logits},
      {"light-conv kernel.weight", Role::logits},
      {"dynamic-conv kernel.weight", Role::matrix},
      {"glu.weight", Role::matrix},
      {"glu.bias", Role::bias},
      {"query.weight", Role::matrix},
      {"key.weight", Role::matrix},
      {"project.key", Role::matrix},
      {"project.value", Role::matrix},
  };
  return roles;
}

void expect_roles(const AttentionOptions& options) {
  const Attention made(options);
  for (const Parameter& parameter : made->declared()) {
    const std::string attention = options.attention.substr(0, options.attention.find(':'));
    const bool kernel = parameter.name == "kernel.weight";
    const std::string name = kernel ? attention + " " + parameter.name : parameter.name;
    ASSERT_TRUE(roles_by_name().contains(name)) << name << " has no role in this test's table";
    EXPECT_EQ(parameter.role, roles_by_name().at(name)) << name;
    const bool projects =
        name.starts_with("value.") || name.starts_with("output.") || name.starts_with("glu.");
    EXPECT_EQ(parameter.synthesis, !projects) << name;
  }
  EXPECT_EQ(declared_parameters(*made).size(), made->parameters().size());
}

TEST(ParameterRoles, of_every_variant_and_mixture) {
  for (const std::string& spec : all_specs()) {
    for (const bool bias : {false, true}) expect_roles(layer(spec, {}, bias)->options());
  }
  for (const char* weights : {"sum", "learned-per-head"})
    expect_roles(layer("D+R", {{"weights", std::string(weights)}})->options());
  for (const char* spec : {"D", "FD"}) expect_roles(layer(spec, {{"hidden", int64_t{0}}})->options());
  expect_roles(layer("D", {{"share_heads", true}})->options());
}

TEST(ParameterRoles, of_every_baseline) {
  for (const Baseline& one : baselines()) expect_roles(baseline(one.name));
  for (const AttentionOptions& options : all_baselines()) expect_roles(options);
}

TEST(ParameterRoles, of_a_fixed_table_do_not_make_it_trained) {
  const Attention fixed = layer("Fix");
  for (const Parameter& parameter : declared_parameters(*fixed))
    EXPECT_FALSE(parameter.name.starts_with("logits.")) << parameter.name;
}

TEST(ParameterDefaults, of_the_outer_factors_cover_every_length) {
  for (int64_t n : {1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 255, 256, 257, 1000}) {
    const Attention made(AttentionOptions{.attention = "FD", .width = 4, .heads = 1, .max_length = n});
    const auto named = made->named_parameters();
    const int64_t a = named["logits.FD.a.bias"].size(1), b = named["logits.FD.b.bias"].size(1);
    EXPECT_EQ(a & (a - 1), 0) << n;
    EXPECT_LE(a * a, n) << n;
    EXPECT_GT(4 * a * a, n) << n;
    EXPECT_EQ(b, (n + a - 1) / a) << n;
  }
}

TEST(ParameterStart, is_the_same_for_the_same_seed_in_every_precision) {
  for (const auto& spec : all_specs()) {
    const MultiHeadAttention multi_head(
        {.attention = spec, .width = kWidth, .heads = kHeads, .max_length = kLength});
    at::manual_seed(3);
    const auto single = multi_head.initialise();
    at::manual_seed(3);
    const auto twice = multi_head.initialise(at::kDouble);
    for (size_t i = 0; i < single.size(); ++i) {
      EXPECT_TRUE(same_bits(twice[i], single[i].to(at::kDouble))) << multi_head.parameters()[i].name;
    }
  }
}

double std_of(const at::Tensor& t) {
  return t.detach().to(at::kDouble).std().item<double>();
}

TEST(ParameterStart, has_the_spread_that_is_written_down) {
  at::manual_seed(4);
  auto large = [](const char* spec, OptionMap given = {}) {
    return Attention(AttentionOptions{
        .attention = spec, .width = 64, .heads = 2, .max_length = 128, .options = std::move(given)});
  };
  EXPECT_NEAR(std_of(large("R")->named_parameters()["logits.R.table"]), 1, 0.03);
  EXPECT_NEAR(std_of(large("Fix")->named_buffers()["logits.Fix.table"]), 1, 0.03);
  EXPECT_NEAR(std_of(large("R", {{"init_std", 0.25}})->named_parameters()["logits.R.table"]), 0.25, 0.01);
  EXPECT_EQ(std_of(large("R", {{"init_std", int64_t{0}}})->named_parameters()["logits.R.table"]), 0);
  const auto factors = large("FR", {{"rank", int64_t{16}}})->named_parameters();
  EXPECT_NEAR(std_of(factors["logits.FR.left"]), 0.5, 0.02);  // 16^-1/4
  EXPECT_NEAR(std_of(at::matmul(factors["logits.FR.left"], factors["logits.FR.right"].transpose(1, 2))), 1,
              0.06);
  const auto query = large("V")->named_parameters()["logits.V.query.weight"];
  const double bound = std::sqrt(6.0 / 128);  // Xavier, 64 in and 64 out
  EXPECT_LE(query.abs().max().item<double>(), bound);
  EXPECT_GT(query.abs().max().item<double>(), 0.98 * bound);
  EXPECT_EQ(large("D+V")->named_parameters()["logits.mixture"].abs().max().item<float>(), 0);
  EXPECT_EQ(large("D")->named_parameters()["logits.D.out.bias"].abs().max().item<float>(), 0);
}

}  // namespace
}  // namespace synthesizer::testing
