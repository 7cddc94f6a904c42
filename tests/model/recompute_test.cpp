// Layers that are computed again in the backward pass: the same bits as layers that keep what they need.

#include "model/recompute.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

#include "model/encoder_decoder.h"
#include "model/models.h"
#include "model/stack.h"

namespace synthesizer::testing {
namespace {

struct Pass {
  at::Tensor loss;
  std::vector<at::Tensor> gradients;
  int64_t next = 0;  ///< what the random numbers give afterwards
};

void recompute_all(torch::nn::Module& model, bool recompute) {
  for (const auto& module : model.modules(/*include_self=*/false)) {
    if (auto* stack = module->as<Stack>()) stack->recompute_layers(recompute);
  }
}

/// One forward and backward pass of a whole model with dropout.
Pass pass_through(EncoderDecoder& model, bool recompute, bool half) {
  recompute_all(model, recompute);
  model.zero_grad();
  at::manual_seed(7);
  const auto source = at::randint(kVocabulary, {3, 6}), target = at::randint(kVocabulary, {3, 5});
  const auto source_lengths = at::tensor({6, 2, 4}, at::kLong),
             target_lengths = at::tensor({5, 5, 1}, at::kLong);
  at::autocast::set_autocast_enabled(at::kCPU, half);
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  Pass pass;
  const auto hidden =
      model.decode(target, target_lengths, model.encode(source, source_lengths), source_lengths);
  pass.loss = hidden.to(at::kFloat).square().sum();
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::clear_cache();
  pass.loss.backward();
  for (const auto& parameter : model.parameters()) {  // (the output's own take no part)
    pass.gradients.push_back(parameter.grad().defined() ? parameter.grad().clone()
                                                        : at::zeros_like(parameter));
  }
  pass.next = at::randint(1 << 30, {1}).item<int64_t>();
  return pass;
}

TEST(Recompute, GivesTheSameBits) {
  for (ModelOptions o : kinds_of_models()) {
    for (const bool half : {false, true}) {
      if (half && o.recurrent_depth > 0) continue;  // sums of one weight's gradients are rounded otherwise
      SCOPED_TRACE(o.attention.front() + (half ? " in bfloat16" : ""));
      o.dropout = o.attention_dropout = 0.2;
      o.activation_dropout = 0.1;
      at::manual_seed(5);
      EncoderDecoder model(o, kVocabulary, kVocabulary, true);
      model.train();
      const Pass kept = pass_through(model, false, half), again = pass_through(model, true, half);
      EXPECT_TRUE(at::equal(kept.loss, again.loss));
      EXPECT_EQ(kept.next, again.next);
      const auto names = model.named_parameters().keys();
      for (size_t n = 0; n < names.size(); ++n)
        EXPECT_TRUE(at::equal(kept.gradients[n], again.gradients[n])) << names[n];
    }
  }
}

TEST(Recompute, ComputesNothingTwiceWithoutGradients) {
  int calls = 0;
  auto layer = [&calls](const at::Tensor& x, const at::Tensor&, const at::Tensor&) {
    ++calls;
    return x * 2;
  };
  auto x = at::ones({2}).requires_grad_();
  const auto y = recompute_in_backward(layer, x, {}, {});
  EXPECT_EQ(calls, 1);
  y.sum().backward();
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(at::equal(x.grad(), at::full({2}, 2.0)));
}

TEST(Recompute, GivesGradientsToAllThatHaveThem) {
  auto layer = [](const at::Tensor& x, const at::Tensor& bias, const at::Tensor& encoded) {
    return x * bias + encoded;
  };
  auto x = at::full({2}, 3.0).requires_grad_(), bias = at::full({2}, 5.0).requires_grad_();
  const auto encoded = at::ones({2});
  recompute_in_backward(layer, x, bias, encoded).sum().backward();
  EXPECT_TRUE(at::equal(x.grad(), at::full({2}, 5.0)));
  EXPECT_TRUE(at::equal(bias.grad(), at::full({2}, 3.0)));
  EXPECT_FALSE(encoded.grad().defined());
}

}  // namespace
}  // namespace synthesizer::testing
