#include "attention/gradient_check.h"

#include <ATen/Parallel.h>

#include "attention/layers.h"

namespace synthesizer::testing {
namespace {

constexpr double kStep = 1e-5;

/// One thread for many tiny problems: waking others would take longer than the work.
struct OneThread {
  OneThread() { at::set_num_threads(1); }
  ~OneThread() { at::set_num_threads(before); }
  int before = at::get_num_threads();
};

/// d loss / d tensor by moving each entry a little to both sides.
template <class Loss>
at::Tensor differences(at::Tensor tensor, const Loss& loss) {
  torch::NoGradGuard no_grad;
  auto result = at::zeros_like(tensor);
  auto* numbers = tensor.data_ptr<double>();
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    const double at = numbers[i];
    numbers[i] = at + kStep;
    const double above = loss();
    numbers[i] = at - kStep;
    const double below = loss();
    numbers[i] = at;
    result.data_ptr<double>()[i] = (above - below) / (2 * kStep);
  }
  return result;
}

}  // namespace

void check_gradients(const Attention& single, int64_t batch, int64_t length, const at::Tensor& lengths) {
  const OneThread guard;
  auto layer = converted(single, at::kDouble);
  const std::string spec = layer->options().attention + (layer->options().causal ? " causal" : "");
  auto x = noise({batch, length, layer->options().width}, 11, at::kDouble).set_requires_grad(true);
  const auto weights = noise(x.sizes(), 12, at::kDouble);
  auto loss = [&] { return (layer->forward(x, lengths) * weights).sum(); };
  auto number = [&] { return loss().template item<double>(); };
  loss().backward();
  EXPECT_TRUE(close(x.grad(), differences(x.detach(), number), 1e-8)) << spec << ", gradient of x";
  for (const auto& item : layer->named_parameters()) {
    EXPECT_TRUE(close(item.value().grad(), differences(item.value().detach(), number), 1e-8))
        << spec << ", gradient of " << item.key();
  }
}

}  // namespace synthesizer::testing
