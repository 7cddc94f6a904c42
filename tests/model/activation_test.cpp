// The activation that is made again in the backward pass, against LibTorch's own differentiation of the plain
// formula.

#include "model/activation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/choice.h"
#include "model/dropout.h"
#include "model/feed_forward.h"

namespace synthesizer {
namespace {

struct Found {
  at::Tensor y;
  std::vector<at::Tensor> gradients;
};

/// A feed-forward part's result and gradients for x and its parameters.
Found through(FeedForward& part, const at::Tensor& x, const at::Tensor& slope) {
  auto input = x.detach().requires_grad_();
  part.zero_grad();
  Found found{part.forward(input), {}};
  found.y.backward(slope);
  found.gradients.push_back(input.grad());
  for (const auto& parameter : part.parameters()) found.gradients.push_back(parameter.grad().clone());
  return found;
}

at::Tensor plainly(FeedForward& part, const ModelOptions& o, const at::Tensor& x) {
  const auto p = part.named_parameters();
  auto linear = [&](const std::string& name, const at::Tensor& of) {
    return at::linear(of, p[name + ".weight"], o.bias ? p[name + ".bias"] : at::Tensor());
  };
  const Activated h{o.activation, linear("in", x), is_gated(o.activation) ? linear("gate", x) : at::Tensor()};
  return linear("out", drop_out(activate(h), o.activation_dropout, true));
}

TEST(MapActivated, GivesWhatDifferentiatingThePlainFormulaGives) {
  for (size_t n = 0; n < choices(Activation{}).size(); ++n) {
    const auto activation = static_cast<Activation>(n);
    for (const double dropout : {0.0, 0.3}) {
      for (const bool bias : {false, true}) {
        SCOPED_TRACE(choice_name(activation) + (bias ? " with a bias" : "") +
                     (dropout > 0 ? ", dropout" : ""));
        ModelOptions o;
        o.width = 5;
        o.feed_forward = 7;
        o.bias = bias;
        o.activation_dropout = dropout;
        o.activation = activation;
        at::manual_seed(3);
        FeedForward part(o);
        part.to(at::kDouble);
        const auto x = at::randn({2, 3, 5}, at::kDouble), slope = at::randn({2, 3, 5}, at::kDouble);
        at::manual_seed(4);
        const Found ours = through(part, x, slope);

        at::manual_seed(4);
        auto input = x.detach().requires_grad_();
        part.zero_grad();
        const auto y = plainly(part, o, input);
        y.backward(slope);
        EXPECT_TRUE(at::allclose(ours.y, y, 1e-12, 1e-12));
        EXPECT_TRUE(at::allclose(ours.gradients[0], input.grad(), 1e-10, 1e-12));
        size_t place = 1;
        for (const auto& parameter : part.named_parameters()) {
          EXPECT_TRUE(at::allclose(ours.gradients[place++], parameter->grad(), 1e-10, 1e-12))
              << parameter.key();
        }
      }
    }
  }
}

TEST(MapActivated, KeepsWhatIsNotFinite) {
  ModelOptions o;
  o.width = 2;
  o.feed_forward = 3;
  o.activation = Activation::gelu;
  FeedForward part(o);
  auto x = at::ones({2, 2});
  x[0][0] = std::numeric_limits<float>::quiet_NaN();
  const Found found = through(part, x, at::ones({2, 2}));
  EXPECT_TRUE(found.y[0].isnan().all().item<bool>());
  EXPECT_TRUE(found.y[1].isfinite().all().item<bool>());
  EXPECT_TRUE(found.gradients[0][0].isnan().any().item<bool>());
  EXPECT_TRUE(found.gradients[0][1].isfinite().all().item<bool>());
}

TEST(MapActivated, TakesNoRows) {
  ModelOptions o;
  o.width = 2;
  o.feed_forward = 3;
  o.activation = Activation::gelu;
  FeedForward part(o);
  const Found found = through(part, at::zeros({0, 4, 2}), at::zeros({0, 4, 2}));
  EXPECT_EQ(found.gradients[0].sizes(), at::IntArrayRef({0, 4, 2}));
  EXPECT_EQ(found.gradients[1].abs().sum().item<double>(), 0);
}

}  // namespace
}  // namespace synthesizer
