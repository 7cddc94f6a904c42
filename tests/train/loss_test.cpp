// The chunked loss against the plain formula in double precision, gradients against autograd of that formula.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "train/loss.h"

namespace synthesizer {
namespace {

at::Tensor logits_of(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& bias) {
  const auto logits = hidden.mm(weight.t());
  return bias.defined() ? logits + bias : logits;
}

at::Tensor plain(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& bias,
                 const at::Tensor& targets, double smoothing) {
  const auto logp = at::log_softmax(logits_of(hidden, weight, bias), 1);
  const auto nll = -logp.gather(1, targets.unsqueeze(1)).sum();
  return (1 - smoothing) * nll - smoothing / static_cast<double>(weight.size(0)) * logp.sum();
}

struct Case {
  int64_t rows, width, vocabulary;
  double smoothing;
  bool biased = false;
};
class Loss : public ::testing::TestWithParam<Case> {};

TEST_P(Loss, EqualsThePlainFormulaWithItsGradients) {
  const auto [rows, width, vocabulary, smoothing, biased] = GetParam();
  at::manual_seed(1);
  auto hidden = at::randn({rows, width}).requires_grad_(),
       weight = at::randn({vocabulary, width}).requires_grad_();
  const auto bias = biased ? at::randn({vocabulary}).requires_grad_() : at::Tensor();
  const auto targets = at::randint(vocabulary, {rows}, at::kLong);
  const LossSum ours = cross_entropy(hidden, weight, bias, targets, smoothing);
  (ours.loss * 0.5).backward();

  auto h = hidden.detach().to(at::kDouble).requires_grad_(),
       w = weight.detach().to(at::kDouble).requires_grad_();
  const auto b = biased ? bias.detach().to(at::kDouble).requires_grad_() : at::Tensor();
  const auto loss = plain(h, w, b, targets, smoothing);
  (loss * 0.5).backward();
  EXPECT_NEAR(ours.loss.item<double>(), loss.item<double>(), 1e-5 * std::abs(loss.item<double>()));
  EXPECT_NEAR(ours.nll, plain(h, w, b, targets, 0).item<double>(), 1e-5 * ours.nll);
  EXPECT_EQ(ours.tokens, rows);
  EXPECT_EQ(ours.correct, logits_of(h, w, b).argmax(1).eq(targets).sum().item<int64_t>());
  EXPECT_TRUE(at::allclose(hidden.grad().to(at::kDouble), h.grad(), 1e-4, 1e-4));
  EXPECT_TRUE(at::allclose(weight.grad().to(at::kDouble), w.grad(), 1e-4, 1e-4));
  if (biased) {
    EXPECT_TRUE(at::allclose(bias.grad().to(at::kDouble), b.grad(), 1e-4, 1e-4));
  }
}

// The last has more entries than one chunk: 300 · 40,000 > 8 Mi.
INSTANTIATE_TEST_SUITE_P(Shapes, Loss,
                         ::testing::Values(Case{1, 1, 2, 0}, Case{5, 8, 13, 0}, Case{5, 8, 13, 0.1},
                                           Case{64, 16, 100, 0.3}, Case{300, 4, 40000, 0.1},
                                           Case{5, 8, 13, 0.1, true}, Case{300, 4, 40000, 0.1, true}));

TEST(Loss, WithoutGradientsHasNone) {
  c10::NoGradGuard no_grad;
  const auto sum =
      cross_entropy(at::randn({4, 8}), at::randn({9, 8}).requires_grad_(), {}, at::arange(4), 0.1);
  EXPECT_FALSE(sum.loss.requires_grad());
  EXPECT_GT(sum.nll, 0);
}

}  // namespace
}  // namespace synthesizer
