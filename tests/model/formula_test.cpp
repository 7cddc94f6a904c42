// A whole language model against the same written plainly, in double precision.

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include <cmath>

#include "model/language_model.h"
#include "model/models.h"
#include "model/positions.h"

namespace synthesizer {
namespace {

/// Parameters by name, as doubles.
struct Named {
  const torch::nn::Module& model;
  at::Tensor operator()(const std::string& name) const {
    return model.named_parameters()[name].to(at::kDouble);
  }
};

at::Tensor norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  const auto centred = x - x.mean(-1, true);
  return centred / (centred.square().mean(-1, true) + 1e-5).sqrt() * weight + bias;
}

at::Tensor attention(const Named& p, const std::string& name, const at::Tensor& x, int64_t heads) {
  const int64_t length = x.size(0), width = x.size(1), k = width / heads;
  const auto q = x.mm(p(name + "logits.V.query.weight").t()), key = x.mm(p(name + "logits.V.key.weight").t());
  const auto v = x.mm(p(name + "value.weight").t()) + p(name + "value.bias");
  auto y = at::zeros_like(x);
  for (int64_t h = 0; h < heads; ++h) {
    for (int64_t i = 0; i < length; ++i) {
      auto row = at::empty({i + 1}, at::kDouble);
      for (int64_t j = 0; j <= i; ++j) {
        row[j] = q[i].narrow(0, h * k, k).dot(key[j].narrow(0, h * k, k)) / std::sqrt(static_cast<double>(k));
      }
      const auto weights = row.softmax(0);
      for (int64_t j = 0; j <= i; ++j) y[i].narrow(0, h * k, k) += weights[j] * v[j].narrow(0, h * k, k);
    }
  }
  return y.mm(p(name + "output.weight").t()) + p(name + "output.bias");
}

TEST(LanguageModelFormula, PreNormWithSinusoidsAndRelu) {
  at::manual_seed(1);
  const auto options = testing::small_model();
  LanguageModel model(options, 7);
  model.eval();
  c10::NoGradGuard no_grad;
  // Start values of norms and biases hide mistakes.
  for (auto& item : model.named_parameters()) item.value().add_(at::randn_like(item.value()), 0.1);
  const auto tokens = at::tensor({3, 1, 6, 6, 0}, at::kLong);
  const Named p{model};

  auto x = p("embedding.weight").index_select(0, tokens) * std::sqrt(16.0);
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t d = 0; d < 16; d += 2) {
      const double angle = static_cast<double>(i) / std::pow(1e4, static_cast<double>(d) / 16);
      x[i][d] += std::sin(angle);
      x[i][d + 1] += std::cos(angle);
    }
  }
  for (int n = 0; n < 2; ++n) {
    const std::string layer = "decoder.layers." + std::to_string(n) + ".";
    auto normed = [&](const char* of) { return norm(x, p(layer + of + ".weight"), p(layer + of + ".bias")); };
    x = x + attention(p, layer + "attention.", normed("attention_norm"), 2);
    const auto h = normed("feed_forward_norm").mm(p(layer + "feed_forward.in.weight").t()) +
                   p(layer + "feed_forward.in.bias");
    x = x + h.clamp_min(0).mm(p(layer + "feed_forward.out.weight").t()) + p(layer + "feed_forward.out.bias");
  }
  const auto logits = norm(x, p("decoder.norm.weight"), p("decoder.norm.bias")).mm(p("embedding.weight").t());
  const auto ours = model.output().logits(model.forward(tokens.unsqueeze(0))).squeeze(0).to(at::kDouble);
  EXPECT_LT((ours - logits).abs().max().item<double>(), 1e-4);
}

TEST(RelativeBuckets, AreThoseOfT5) {
  // Known values of the T5 code (32 buckets, farthest 128): distance column - row.
  auto both = [](int64_t row, int64_t column) {
    return relative_buckets(row, 1, column + 1, false)[0][column].item<int64_t>();
  };
  EXPECT_EQ(both(0, 0), 0);
  EXPECT_EQ(both(1, 0), 1);
  EXPECT_EQ(both(7, 0), 7);
  EXPECT_EQ(both(8, 0), 8);
  EXPECT_EQ(both(20, 0), 10);
  EXPECT_EQ(both(64, 0), 14);  // on a border
  EXPECT_EQ(both(0, 64), 30);
  EXPECT_EQ(both(200, 0), 15);
  EXPECT_EQ(both(0, 1), 17);
  EXPECT_EQ(both(0, 200), 31);
  auto causal = [](int64_t row) { return relative_buckets(row, 1, 1, true)[0][0].item<int64_t>(); };
  EXPECT_EQ(causal(15), 15);
  EXPECT_EQ(causal(16), 16);
  EXPECT_EQ(causal(40), 23);
  EXPECT_EQ(causal(1000), 31);
}

}  // namespace
}  // namespace synthesizer
