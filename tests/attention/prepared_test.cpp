// A layer prepared for inference gives what the layer gives, never changes, and can be shared by threads; a
// layer that is not prepared remembers nothing from call to call.

#include <gmock/gmock.h>

#include <array>
#include <thread>

#include "attention/layers.h"
#include "base/error.h"

namespace synthesizer::testing {
namespace {

class Prepared : public ::testing::TestWithParam<std::tuple<std::string, bool>> {
 protected:
  AttentionOptions options() const {
    return {.attention = std::get<0>(GetParam()),
            .width = 12,
            .heads = 3,
            .max_length = 90,
            .causal = std::get<1>(GetParam())};
  }
  Attention resting_layer() const {
    auto layer = make_layer(options());
    layer->eval();
    return layer;
  }
  Attention prepared_layer() const {
    auto layer = make_layer(options());
    layer->prepare();
    return layer;
  }
  static at::Tensor without_gradients(const Attention& layer, const at::Tensor& x,
                                      const at::Tensor& lengths = {}) {
    torch::NoGradGuard no_grad;
    return layer->forward(x, lengths);
  }
};

TEST_P(Prepared, gives_what_the_layer_gives) {
  const auto prepared = prepared_layer(), layer = resting_layer();
  for (int64_t length : {20, 90, 7, 64, 1, 7}) {
    const auto x = noise({3, length, 12}, length);
    for (const auto& lengths : {at::Tensor(), some_lengths(3, length)}) {
      const auto y = without_gradients(prepared, x, lengths);
      EXPECT_TRUE(close(y, layer->forward(x, lengths), 1e-5)) << length;
      EXPECT_TRUE(same_bits(without_gradients(prepared, x, lengths), y)) << length;
    }
  }
}

TEST_P(Prepared, decodes_what_the_layer_gives) {
  if (!options().causal) return;  // there are no steps
  const auto x = noise({3, 40, 12}, 5);
  EXPECT_TRUE(close(by_steps(prepared_layer(), x), resting_layer()->forward(x), 1e-5));
}

TEST_P(Prepared, refuses_gradients_and_growth) {
  const auto prepared = prepared_layer();
  EXPECT_THROW(prepared->forward(noise({2, 8, 12}, 1)), InvalidInput);
  EXPECT_THROW(Attention(prepared)->grow(100), InvalidInput);
}

TEST_P(Prepared, is_float32_only) {
  for (auto dtype : {at::kDouble, at::kBFloat16}) {
    auto layer = converted(make_layer(options()), dtype);
    EXPECT_THROW(layer->prepare(), InvalidInput) << c10::toString(dtype);
  }
}

TEST_P(Prepared, is_shared_by_threads) {
  const auto prepared = prepared_layer();
  const auto x = noise({3, 60, 12}, 5);
  const auto wanted = without_gradients(prepared, x);
  const auto steps = options().causal ? by_steps(prepared, x) : at::Tensor();
  std::vector<std::thread> threads;
  std::array<bool, 8> same{};
  for (bool& one : same) {
    threads.emplace_back([&] {
      one = true;
      for (int round = 0; round < 5; ++round) {
        one = one && at::equal(without_gradients(prepared, x), wanted);
        if (steps.defined()) one = one && at::equal(by_steps(prepared, x), steps);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(same, ::testing::Each(true));
}

TEST_P(Prepared, a_clone_is_prepared_too) {
  const auto prepared = prepared_layer();
  const auto x = noise({2, 30, 12}, 3);
  const auto copy = std::dynamic_pointer_cast<AttentionImpl>(prepared->clone());
  torch::NoGradGuard no_grad;
  EXPECT_TRUE(copy->layer_weights().prepared());
  EXPECT_TRUE(same_bits(copy->forward(x), prepared->forward(x)));
}

TEST_P(Prepared, a_layer_that_is_not_remembers_nothing) {
  // Writes that no version counter sees, as fused optimizers do them, between two calls without gradients.
  auto layer = resting_layer();
  const auto x = noise({2, 20, 12}, 2);
  auto before = without_gradients(layer, x);
  for (auto& [name, tensor] : named_tensors(*layer)) {
    tensor.variable_data().add_(noise(tensor.sizes(), 7));
    const auto after = without_gradients(layer, x);
    EXPECT_FALSE(close(after, before, 1e-4)) << name;
    EXPECT_TRUE(close(after, layer->forward(x), 1e-5)) << name;
    before = after;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Prepared,
                         ::testing::Combine(::testing::ValuesIn(all_specs()), ::testing::Bool()),
                         [](const auto& info) {
                           return test_name(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "_causal" : "");
                         });

}  // namespace
}  // namespace synthesizer::testing
