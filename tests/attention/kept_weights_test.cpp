// Weights that depend on no token are kept between calls without gradients. Nobody may notice, but by the
// clock.

#include "attention/layers.h"

namespace synthesizer::testing {
namespace {

class KeptWeights : public ::testing::TestWithParam<std::tuple<std::string, bool>> {
 protected:
  AttentionOptions options() const {
    return {.attention = std::get<0>(GetParam()),
            .width = 12,
            .heads = 3,
            .max_length = 90,
            .causal = std::get<1>(GetParam())};
  }
  Attention resting_layer() const {  // weights are kept only where nothing is being trained
    auto layer = make_layer(options());
    layer->eval();
    return layer;
  }
  static at::Tensor without_gradients(Attention layer, const at::Tensor& x, const at::Tensor& lengths = {}) {
    torch::NoGradGuard no_grad;
    return layer->forward(x, lengths);
  }
  /// Kept or not, the weights are those of the parameters as they are now. (A call with gradients makes the
  /// layer forget, so it comes second.)
  static void expect_up_to_date(Attention layer, const at::Tensor& x, const std::string& what,
                                const at::Tensor& lengths = {}) {
    const auto y = without_gradients(layer, x, lengths), again = without_gradients(layer, x, lengths);
    EXPECT_TRUE(close(y, layer->forward(x, lengths), tolerance(x.scalar_type()) / 2)) << what;
    EXPECT_TRUE(same_bits(again, y)) << what;
  }
};

TEST_P(KeptWeights, give_what_calls_with_gradients_give) {
  auto layer = resting_layer();
  for (int64_t length : {20, 90, 7, 64, 7}) {
    const auto x = noise({3, length, 12}, length);
    for (const auto& lengths : {at::Tensor(), some_lengths(3, length)}) {
      expect_up_to_date(layer, x, std::to_string(length), lengths);
    }
  }
}

TEST_P(KeptWeights, give_the_bits_of_a_fresh_layer_for_lengths_in_any_order) {
  // The table of FR is itself a product, which a BLAS rounds differently for other lengths.
  const bool rounded = std::get<0>(GetParam()).find("FR") != std::string::npos;
  auto layer = resting_layer();
  for (int64_t length : {90, 5, 31, 32, 33, 1, 90, 64, 2}) {
    const auto x = noise({2, length, 12}, length);
    const auto kept = without_gradients(layer, x), fresh = without_gradients(resting_layer(), x);
    EXPECT_TRUE(rounded ? close(kept, fresh, 1e-6) : same_bits(kept, fresh)) << length;
  }
}

TEST_P(KeptWeights, are_made_again_when_a_parameter_is_written_to) {
  auto layer = resting_layer();
  const auto x = noise({2, 20, 12}, 2);
  for (const auto& [name, tensor] : named_tensors(*layer)) {
    const auto before = without_gradients(layer, x);
    {
      torch::NoGradGuard no_grad;
      tensor.add_(noise(tensor.sizes(), 7));
    }
    const auto after = without_gradients(layer, x);
    EXPECT_FALSE(close(after, before, 1e-4)) << name;
    EXPECT_TRUE(close(after, layer->forward(x), 1e-5)) << name;
  }
}

TEST_P(KeptWeights, are_made_again_when_a_parameter_gets_other_memory) {
  auto layer = resting_layer();
  const auto x = noise({2, 20, 12}, 2);
  for (auto& [name, tensor] : named_tensors(*layer)) {
    without_gradients(layer, x);
    tensor.set_data(tensor.detach() + noise(tensor.sizes(), 3));
    expect_up_to_date(layer, x, name);
  }
}

TEST_P(KeptWeights, are_made_again_when_a_parameter_gets_memory_at_the_old_address) {
  // What happens when memory is given back and taken again, here for certain: the same address, other
  // numbers.
  auto layer = resting_layer();
  const auto x = noise({2, 20, 12}, 2);
  for (auto& [name, tensor] : named_tensors(*layer)) {
    const auto sizes = tensor.sizes().vec();
    std::vector<float> place(tensor.numel(), 0.5f);
    tensor.set_data(at::from_blob(place.data(), sizes));
    without_gradients(layer, x);
    tensor.set_data(at::zeros(sizes));
    at::from_blob(place.data(), sizes).copy_(noise(sizes, 4));
    tensor.set_data(at::from_blob(place.data(), sizes));
    expect_up_to_date(layer, x, name);
    tensor.set_data(noise(sizes, 5));
  }
}

TEST_P(KeptWeights, follow_a_change_of_dtype) {
  auto layer = resting_layer();
  const auto x = noise({2, 20, 12}, 2);
  const auto before = without_gradients(layer, x);
  for (auto dtype : {at::kBFloat16, at::kDouble, at::kFloat}) {
    layer->to(dtype);
    expect_up_to_date(layer, x.to(dtype), c10::toString(dtype));
  }
  EXPECT_FALSE(same_bits(without_gradients(layer, x), before)) << "bfloat16 took digits away";
}

TEST_P(KeptWeights, follow_an_optimizer_and_training) {
  auto layer = resting_layer();
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
    expect_up_to_date(layer, x, std::to_string(step));
  }
}

TEST_P(KeptWeights, in_inference_mode_and_of_inference_tensors) {
  const auto x = noise({2, 20, 12}, 2);
  const auto expected = resting_layer()->forward(x);
  auto layer = resting_layer();
  c10::InferenceMode guard;
  EXPECT_TRUE(close(layer->forward(x), expected, 1e-6));
  EXPECT_TRUE(close(layer->forward(x), expected, 1e-6));
  auto made_inside = resting_layer();
  EXPECT_TRUE(close(made_inside->forward(x), expected, 1e-6));
  for (auto& [name, tensor] : named_tensors(*made_inside)) tensor.zero_();
  EXPECT_EQ(made_inside->forward(x).abs().max().item<float>(), 0);
}

TEST_P(KeptWeights, written_to_through_data_are_made_again_after_train_or_forget) {
  auto layer = resting_layer();
  const auto x = noise({2, 20, 12}, 2);
  without_gradients(layer, x);
  for (auto& [name, tensor] : named_tensors(*layer)) tensor.variable_data().add_(noise(tensor.sizes(), 5));
  layer->mixer().forget();
  expect_up_to_date(layer, x, "after writing");
  for (auto& [name, tensor] : named_tensors(*layer)) tensor.variable_data().add_(noise(tensor.sizes(), 6));
  layer->eval();
  expect_up_to_date(layer, x, "after writing");
}

INSTANTIATE_TEST_SUITE_P(All, KeptWeights,
                         ::testing::Combine(::testing::Values("R", "Fix", "FR", "R+FR", "Fix+R+FR", "R+V",
                                                              "D"),
                                            ::testing::Bool()),
                         [](const auto& info) {
                           return test_name(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "_causal" : "");
                         });

}  // namespace
}  // namespace synthesizer::testing
