// The layer as a LibTorch module: saved, loaded, copied, converted, printed, held inside others.

#include <gmock/gmock.h>
#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>
#include <torch/serialize/input-archive.h>
#include <torch/serialize/output-archive.h>

#include "attention/layers.h"

namespace synthesizer::testing {
namespace {

/// As torch::save and torch::load do it.
void save(const Attention& layer, std::ostream& file) {
  torch::serialize::OutputArchive archive;
  archive << layer;
  archive.save_to(file);
}
void load(Attention& layer, std::istream& file) {
  torch::serialize::InputArchive archive;
  archive.load_from(file);
  archive >> layer;
}

class Module : public ::testing::TestWithParam<std::string> {
 protected:
  static AttentionOptions options() {
    return {.attention = GetParam(), .width = 12, .heads = 3, .max_length = 16, .causal = true, .bias = true};
  }
};

TEST_P(Module, is_saved_and_loaded) {
  auto layer = make_layer(options(), 1), other = make_layer(options(), 2);
  const auto x = noise({2, 9, 12}, 2);
  ASSERT_FALSE(close(other->forward(x), layer->forward(x), 1e-3));
  std::stringstream file;
  save(layer, file);
  load(other, file);
  EXPECT_TRUE(same_bits(other->forward(x), layer->forward(x)));
  torch::NoGradGuard no_grad;
  EXPECT_TRUE(close(other->forward(x), layer->forward(x), 1e-6));
}

TEST_P(Module, loaded_between_calls_does_not_use_what_it_kept) {
  auto layer = make_layer(options(), 1), other = make_layer(options(), 2);
  const auto x = noise({2, 9, 12}, 2);
  std::stringstream file;
  save(layer, file);
  other->eval();
  torch::NoGradGuard no_grad;
  other->forward(x);
  load(other, file);
  EXPECT_TRUE(same_bits(other->forward(x), layer->forward(x)));
}

TEST_P(Module, is_cloned_into_one_of_its_own) {
  auto layer = make_layer(options());
  layer->eval();
  auto copy = Attention(std::dynamic_pointer_cast<AttentionImpl>(layer->clone()));
  EXPECT_FALSE(copy->is_training());
  const auto x = noise({2, 9, 12}, 2), before = layer->forward(x);
  EXPECT_TRUE(same_bits(copy->forward(x), before));
  {
    torch::NoGradGuard no_grad;
    for (auto& [name, tensor] : named_tensors(*copy)) tensor.add_(0.5);
  }
  EXPECT_TRUE(same_bits(layer->forward(x), before));
  EXPECT_FALSE(close(copy->forward(x), before, 1e-2));
  copy->forward(x).sum().backward();
  for (const auto& parameter : layer->parameters()) EXPECT_FALSE(parameter.grad().defined());
}

TEST_P(Module, is_converted_and_back) {
  auto layer = make_layer(options());
  const auto x = noise({2, 9, 12}, 2), before = layer->forward(x).detach();
  layer->to(torch::kDouble);
  EXPECT_EQ(layer->forward(x.to(at::kDouble)).scalar_type(), at::kDouble);
  EXPECT_TRUE(close(layer->forward(x.to(at::kDouble)), before, 1e-5));
  layer->to(torch::kFloat);
  EXPECT_TRUE(same_bits(layer->forward(x), before));
  layer->to(torch::kBFloat16);
  for (const auto& [name, tensor] : named_tensors(*layer))
    EXPECT_EQ(tensor.scalar_type(), at::kBFloat16) << name;
  const auto y = layer->forward(x.to(at::kBFloat16));
  EXPECT_EQ(y.scalar_type(), at::kBFloat16);
  EXPECT_TRUE(close(y, before, 5e-2));
  y.sum().backward();
  for (const auto& item : layer->named_parameters())
    EXPECT_EQ(item.value().grad().scalar_type(), at::kBFloat16) << item.key();
}

TEST_P(Module, clones_in_its_dtype) {
  auto layer = converted(make_layer(options()), at::kDouble);
  auto copy = Attention(std::dynamic_pointer_cast<AttentionImpl>(layer->clone()));
  const auto x = noise({2, 9, 12}, 2, at::kDouble);
  EXPECT_TRUE(same_bits(copy->forward(x), layer->forward(x)));
  copy->forward(x).sum().backward();
  for (const auto& item : copy->named_parameters())
    EXPECT_EQ(item.value().grad().scalar_type(), at::kDouble) << item.key();
}

TEST_P(Module, lends_its_parameters_in_the_order_of_the_mixer) {
  const auto layer = make_layer(options());
  std::vector<std::string> declared, registered;
  for (const Parameter& parameter : layer->mixer().parameters()) declared.push_back(parameter.name);
  for (const auto& [name, tensor] : named_tensors(*layer)) registered.push_back(name);
  EXPECT_THAT(registered, ::testing::UnorderedElementsAreArray(declared));
}

INSTANTIATE_TEST_SUITE_P(All, Module, ::testing::ValuesIn(all_specs()),
                         [](const auto& info) { return test_name(info.param); });

TEST(Module, prints_what_it_is) {
  auto printed = [](const AttentionOptions& options) {
    std::ostringstream text;
    Attention(options)->pretty_print(text);
    return text.str();
  };
  EXPECT_EQ(printed({.attention = "random+vanilla", .width = 8, .heads = 2, .max_length = 5, .causal = true}),
            "synthesizer::Attention(R+V, width=8, heads=2, max_length=5, causal)");
  EXPECT_EQ(printed({.attention = "D", .width = 8, .heads = 2, .max_length = 5}),
            "synthesizer::Attention(D, width=8, heads=2, max_length=5)");
}

/// A user's model with two layers.
struct TwoLayersImpl : torch::nn::Cloneable<TwoLayersImpl> {
  TwoLayersImpl() { reset(); }
  void reset() override {
    const AttentionOptions options{.attention = "R+V", .width = 8, .heads = 2, .max_length = 5};
    first = register_module("first", Attention(options));
    second = register_module("second", Attention(options));
  }
  at::Tensor forward(const at::Tensor& x) { return second(first(x)); }
  Attention first = nullptr, second = nullptr;
};
TORCH_MODULE(TwoLayers);

TEST(Module, lives_inside_others) {
  TwoLayers model;
  const auto names = model->named_parameters();
  EXPECT_TRUE(names.contains("first.logits.R.table"));
  EXPECT_TRUE(names.contains("second.logits.V.key.weight"));
  const auto x = noise({2, 5, 8}, 2);
  EXPECT_EQ(model(x).sizes(), x.sizes());
  model(x).sum().backward();
  for (const auto& item : names) EXPECT_TRUE(item.value().grad().defined()) << item.key();
  model->eval();
  EXPECT_FALSE(model->first->is_training());
}

}  // namespace
}  // namespace synthesizer::testing
