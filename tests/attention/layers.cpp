#include "attention/layers.h"

#include <ATen/CPUGeneratorImpl.h>

#include "attention/registry.h"

namespace synthesizer::testing {

const std::vector<std::string>& mixtures() {
  static const std::vector<std::string> list = {"R+V",   "D+V",      "D+R",         "FR+V",    "FD+V",
                                                "Fix+V", "D+FR+V",   "FD+R",        "FD+D",    "R+FR",
                                                "Fix+R", "Fix+R+FR", "V+D+R+FR+FD", "FD+Fix+V"};
  return list;
}

std::vector<std::string> all_specs() {
  std::vector<std::string> specs;
  for (const Variant& variant : variants()) specs.push_back(variant.abbreviation);
  specs.insert(specs.end(), mixtures().begin(), mixtures().end());
  return specs;
}

std::string test_name(std::string text) {
  for (char& c : text) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return text;
}

Attention make_layer(const AttentionOptions& options, uint64_t seed) {
  Attention layer(options);
  torch::NoGradGuard no_grad;
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  for (auto& [name, tensor] : named_tensors(*layer)) {
    const bool of_tokens = name.ends_with("weight");
    tensor.normal_(0, of_tokens ? 0.3 : 0.6, generator);
  }
  return layer;
}

Attention converted(const Attention& layer, at::ScalarType dtype) {
  auto copy = std::dynamic_pointer_cast<AttentionImpl>(layer->clone());
  copy->to(dtype);
  return Attention(copy);
}

at::Tensor noise(at::IntArrayRef shape, uint64_t seed, at::ScalarType dtype) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  return at::randn(shape, generator, at::kFloat).to(dtype);
}

at::Tensor by_steps(const Attention& layer, const at::Tensor& x) {
  State state = layer->start(x.size(0));
  std::vector<at::Tensor> rows;
  for (int64_t t = 0; t < x.size(1); ++t) {
    EXPECT_EQ(state.position(), t);
    rows.push_back(layer->step(x.select(1, t), state));
  }
  return at::stack(rows, 1);
}

at::Tensor some_lengths(int64_t batch, int64_t length) {
  auto lengths = at::empty({batch}, at::kLong);
  const int64_t kinds[] = {length, (length + 1) / 2, 0};
  for (int64_t b = 0; b < batch; ++b) lengths[b] = kinds[b % 3];
  return lengths;
}

double tolerance(at::ScalarType dtype) {
  return dtype == at::kDouble ? 1e-12 : dtype == at::kFloat ? 1e-5 : 3e-2;
}

::testing::AssertionResult close(const at::Tensor& actual, const at::Tensor& expected, double tolerance,
                                 double floor) {
  if (!actual.defined() || !expected.defined()) return ::testing::AssertionFailure() << "a tensor is missing";
  if (actual.sizes() != expected.sizes()) {
    return ::testing::AssertionFailure() << "shape " << actual.sizes() << " instead of " << expected.sizes();
  }
  if (actual.numel() == 0) return ::testing::AssertionSuccess();
  const auto a = actual.detach().to(at::kDouble), e = expected.detach().to(at::kDouble);
  const double scale = std::max(e.abs().max().item<double>(), floor);
  const auto distance = (a - e).abs().reshape({-1});
  const int64_t worst = distance.nan_to_num(1e300).argmax().item<int64_t>();
  const double largest = distance[worst].item<double>();
  if (largest <= tolerance * scale) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "off by " << largest << " where " << tolerance * scale
         << " is allowed: " << a.reshape({-1})[worst].item<double>() << " instead of "
         << e.reshape({-1})[worst].item<double>() << " at entry " << worst << " of " << expected.sizes();
}

::testing::AssertionResult same_bits(const at::Tensor& actual, const at::Tensor& expected) {
  if (actual.sizes() != expected.sizes() || actual.scalar_type() != expected.scalar_type()) {
    return ::testing::AssertionFailure() << "shapes " << actual.sizes() << " and " << expected.sizes();
  }
  if (at::equal(actual, expected)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << actual.ne(expected).sum().item<int64_t>() << " of " << actual.numel() << " entries differ";
}

std::vector<std::pair<std::string, at::Tensor>> named_tensors(const torch::nn::Module& module) {
  std::vector<std::pair<std::string, at::Tensor>> all;
  for (const auto& item : module.named_parameters()) all.emplace_back(item.key(), item.value());
  for (const auto& item : module.named_buffers()) all.emplace_back(item.key(), item.value());
  return all;
}

}  // namespace synthesizer::testing
