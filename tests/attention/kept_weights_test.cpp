// Weights that depend on no token are kept between calls without gradients. Nobody may notice, but by the clock.

#include "attention/layers.h"

namespace synthesizer::testing {
namespace {

class KeptWeights : public ::testing::TestWithParam<std::tuple<std::string, bool>> {
 protected:
  AttentionOptions options() const {
    return {.attention = std::get<0>(GetParam()), .width = 12, .heads = 3, .max_length = 90, .causal = std::get<1>(GetParam())};
  }
  at::Tensor without_gradients(Attention layer, const at::Tensor& x, const at::Tensor& lengths = {}) const {
    torch::NoGradGuard no_grad;
    return layer->forward(x, lengths);
  }
};

TEST_P(KeptWeights, give_what_calls_with_gradients_give) {
  auto layer = make_layer(options());
  for (int64_t length : {20, 90, 7, 64, 7}) {
    const auto x = noise({3, length, 12}, length);
    for (const auto& lengths : {at::Tensor(), some_lengths(3, length)}) {
      EXPECT_TRUE(close(without_gradients(layer, x, lengths), layer->forward(x, lengths), 1e-6)) << length;
    }
  }
}

TEST_P(KeptWeights, give_the_bits_of_a_fresh_layer_for_lengths_in_any_order) {
  auto layer = make_layer(options());
  for (int64_t length : {90, 5, 31, 32, 33, 1, 90, 64, 2}) {
    const auto x = noise({2, length, 12}, length);
    EXPECT_TRUE(same_bits(without_gradients(layer, x), without_gradients(make_layer(options()), x))) << length;
  }
}

TEST_P(KeptWeights, are_made_again_when_a_parameter_is_written_to) {
  auto layer = make_layer(options());
  const auto x = noise({2, 20, 12}, 2);
  for (const auto& [name, tensor] : named_tensors(*layer)) {
    const auto before = without_gradients(layer, x);
    {
      torch::NoGradGuard no_grad;
      tensor.add_(noise(tensor.sizes(), 7));
    }
    const auto after = without_gradients(layer, x);
    EXPECT_FALSE(close(after, before, 1e-4)) << name;
    EXPECT_TRUE(close(after, layer->forward(x), 1e-6)) << name;
  }
}

TEST_P(KeptWeights, are_made_again_when_a_parameter_gets_other_memory) {
  auto layer = make_layer(options());
  const auto x = noise({2, 20, 12}, 2);
  for (auto& [name, tensor] : named_tensors(*layer)) {
    without_gradients(layer, x);
    tensor.set_data(tensor.detach() + noise(tensor.sizes(), 3));
    EXPECT_TRUE(close(without_gradients(layer, x), layer->forward(x), 1e-6)) << name;
  }
}

TEST_P(KeptWeights, are_made_again_when_memory_is_given_back_and_taken_again) {
  // The second set_data may get the memory that the first one gave back: the address is the old one.
  auto layer = make_layer(options());
  const auto x = noise({2, 20, 12}, 2);
  for (auto& [name, tensor] : named_tensors(*layer)) {
    const auto sizes = tensor.sizes().vec();
    without_gradients(layer, x);
    tensor.set_data(at::full(sizes, 0.1));
    tensor.set_data(at::full(sizes, 0.2) + noise(sizes, 4));
    EXPECT_TRUE(close(without_gradients(layer, x), layer->forward(x), 1e-6)) << name;
  }
}

TEST_P(KeptWeights, follow_a_change_of_dtype) {
  auto layer = make_layer(options());
  const auto x = noise({2, 20, 12}, 2);
  const auto before = without_gradients(layer, x);
  for (auto dtype : {at::kBFloat16, at::kDouble, at::kFloat}) {
    layer->to(dtype);
    EXPECT_TRUE(close(without_gradients(layer, x.to(dtype)), Attention(layer)->forward(x.to(dtype)), tolerance(dtype)));
  }
  EXPECT_FALSE(same_bits(without_gradients(layer, x), before)) << "bfloat16 took digits away";
}

TEST_P(KeptWeights, follow_an_optimizer_and_training) {
  auto layer = make_layer(options());
  const auto x = noise({2, 20, 12}, 2);
  for (int step = 0; step < 3; ++step) {
    layer->train();
    layer->zero_grad();
    layer->forward(x).square().sum().backward();
    {
      torch::NoGradGuard no_grad;
      for (auto& parameter : layer->parameters()) parameter.sub_(parameter.grad(), 0.05);
    }
    layer->eval();
    EXPECT_TRUE(close(without_gradients(layer, x), layer->forward(x), 1e-6)) << step;
  }
}

TEST_P(KeptWeights, in_inference_mode_and_of_inference_tensors) {
  const auto x = noise({2, 20, 12}, 2);
  const auto expected = make_layer(options())->forward(x);
  auto layer = make_layer(options());
  c10::InferenceMode guard;
  EXPECT_TRUE(close(layer->forward(x), expected, 1e-6));
  EXPECT_TRUE(close(layer->forward(x), expected, 1e-6));
  auto made_inside = make_layer(options());
  EXPECT_TRUE(close(made_inside->forward(x), expected, 1e-6));
  for (auto& [name, tensor] : named_tensors(*made_inside)) tensor.zero_();
  EXPECT_EQ(made_inside->forward(x).abs().max().item<float>(), 0);
}

TEST_P(KeptWeights, written_to_through_data_are_made_again_after_train_or_forget) {
  auto layer = make_layer(options());
  const auto x = noise({2, 20, 12}, 2);
  without_gradients(layer, x);
  for (auto& [name, tensor] : named_tensors(*layer)) tensor.variable_data().add_(noise(tensor.sizes(), 5));
  layer->frame().forget();
  EXPECT_TRUE(close(without_gradients(layer, x), layer->forward(x), 1e-6));
  for (auto& [name, tensor] : named_tensors(*layer)) tensor.variable_data().add_(noise(tensor.sizes(), 6));
  layer->eval();
  EXPECT_TRUE(close(without_gradients(layer, x), layer->forward(x), 1e-6));
}

INSTANTIATE_TEST_SUITE_P(All, KeptWeights,
                         ::testing::Combine(::testing::Values("R", "Fix", "FR", "R+FR", "Fix+R+FR", "R+V", "D"),
                                            ::testing::Bool()),
                         [](const auto& info) {
                           return test_name(std::get<0>(info.param)) + (std::get<1>(info.param) ? "_causal" : "");
                         });

}  // namespace
}  // namespace synthesizer::testing
