#include "train/loss.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

namespace synthesizer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Entries of the logits that are held at a time: 32 MB in float32.
constexpr int64_t kChunkEntries = 8 << 20;

/// One chunk's part of the sums, and of the gradients where they are wanted.
struct ChunkWork {
  at::Tensor weight;  ///< V×D, in the dtype the products are made in
  double smoothing;
  bool gradients;
  at::Tensor weight_gradient;  ///< V×D float32, summed up
  double loss = 0, nll = 0;
  int64_t correct = 0;

  /// hidden n×D; gives the gradient of the loss by it, n×D.
  at::Tensor add(const at::Tensor& hidden, const at::Tensor& targets) {
    const auto vocabulary = static_cast<double>(weight.size(0));
    const auto h = hidden.to(weight.scalar_type());
    auto logp = at::_log_softmax(at::mm(h, weight.t()).to(at::kFloat), 1, false);  // n×V
    const auto column = targets.unsqueeze(1);
    const double nll_here = -logp.gather(1, column).sum(at::kDouble).item<double>();
    nll += nll_here;
    loss += (1 - smoothing) * nll_here;
    if (smoothing > 0) loss -= smoothing / vocabulary * logp.sum(at::kDouble).item<double>();
    correct += logp.argmax(1).eq(targets).sum().item<int64_t>();
    if (!gradients) return {};
    auto slope = logp.exp_();  // softmax minus the wanted distribution
    if (smoothing > 0) slope.sub_(smoothing / vocabulary);
    slope.scatter_add_(1, column, at::full_like(column, smoothing - 1, slope.options()));
    slope = slope.to(weight.scalar_type());
    if (weight.scalar_type() == at::kBFloat16) {
      weight_gradient.add_(at::mm(slope.t(), h));
    } else {
      weight_gradient.addmm_(slope.t(), h);
    }
    return at::mm(slope, weight).to(hidden.scalar_type());
  }
};

class CrossEntropy : public torch::autograd::Function<CrossEntropy> {
 public:
  static variable_list forward(AutogradContext* context, const at::Tensor& hidden, const at::Tensor& weight,
                               const at::Tensor& targets, double smoothing, bool gradients) {
    const bool half = at::autocast::is_autocast_enabled(at::kCPU);
    ChunkWork work{half ? weight.to(at::autocast::get_autocast_dtype(at::kCPU)) : weight, smoothing,
                   gradients, gradients ? at::zeros(weight.sizes(), at::kFloat) : at::Tensor()};
    const int64_t rows = hidden.size(0), chunk = std::max<int64_t>(1, kChunkEntries / weight.size(0));
    auto hidden_gradient = gradients ? at::empty_like(hidden) : at::Tensor();
    for (int64_t begin = 0; begin < rows; begin += chunk) {
      const int64_t count = std::min(chunk, rows - begin);
      const auto gradient = work.add(hidden.narrow(0, begin, count), targets.narrow(0, begin, count));
      if (gradients) hidden_gradient.narrow(0, begin, count).copy_(gradient);
    }
    context->save_for_backward({hidden_gradient, work.weight_gradient});
    auto number = [](double value) { return at::scalar_tensor(value, at::kDouble); };
    variable_list sums = {number(work.loss), number(work.nll), number(static_cast<double>(work.correct))};
    context->mark_non_differentiable({sums[1], sums[2]});
    return sums;
  }

  static variable_list backward(AutogradContext* context, variable_list slopes) {
    const auto saved = context->get_saved_variables();
    const double slope = slopes[0].item<double>();
    return {saved[0] * slope, saved[1] * slope, {}, {}, {}};
  }
};

}  // namespace

LossSum cross_entropy(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                      double smoothing) {
  const bool gradients = c10::GradMode::is_enabled() && (hidden.requires_grad() || weight.requires_grad());
  const auto sums = CrossEntropy::apply(hidden, weight, targets, smoothing, gradients);
  return {sums[0], sums[1].item<double>(), targets.size(0), static_cast<int64_t>(sums[2].item<double>())};
}

}  // namespace synthesizer
