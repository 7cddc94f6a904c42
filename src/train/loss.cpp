#include "train/loss.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/SequenceNumber.h>
#include <ATen/autocast_mode.h>
#include <ATen/record_function.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "attention/kernel/tile.h"
#include "attention/matrix_product.h"

namespace synthesizer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Entries of the logits that are held at a time: 32 MB in float32.
constexpr int64_t kChunkEntries = 8 << 20;

/// What one row adds to the sums.
struct RowSums {
  double loss = 0, nll = 0;
  bool correct = false;
};

/// Turns a row of logits into the slope of its loss: softmax minus the wanted distribution. `total` is the
/// sum of the logits.
RowSums finish_row(float* row, int64_t vocabulary, int64_t target, double total, double smoothing) {
  const double wanted = row[target], share = smoothing / static_cast<double>(vocabulary);
  float max = -std::numeric_limits<float>::infinity(), sum = 0, rescale = 1;
  kernel::softmax({row, vocabulary, 1, vocabulary, 0, 0}, {false, vocabulary}, &max, &sum, &rescale);
  const double lse = static_cast<double>(max) + std::log(static_cast<double>(sum));
  const double nll = lse - wanted;
  const double spread = static_cast<double>(vocabulary) * lse - total;  // -Σ log p
  const float scale = 1 / sum, lower = static_cast<float>(share);
  for (int64_t v = 0; v < vocabulary; ++v) row[v] = row[v] * scale - lower;
  row[target] -= static_cast<float>(1 - smoothing);
  return {(1 - smoothing) * nll + share * spread, nll, wanted >= static_cast<double>(max)};
}

/// One chunk's part of the sums, and of the gradients where they are wanted.
struct ChunkWork {
  at::Tensor weight;  ///< V×D, in the dtype the products are made in
  at::Tensor bias;    ///< V float32, or undefined
  double smoothing;
  bool gradients;
  at::Tensor weight_gradient;  ///< V×D float32, summed up
  at::Tensor bias_gradient;    ///< V float32, summed up; undefined without a bias
  at::Tensor weight_sum;       ///< D: the sum of the logits of h is h · weight_sum, and that of the bias
  double loss = 0, nll = 0;
  int64_t correct = 0;

  /// hidden n×D; gives the gradient of the loss by it, n×D.
  at::Tensor add(const at::Tensor& hidden, const at::Tensor& targets) {
    const auto h = hidden.to(weight.scalar_type()).contiguous();
    auto slope = matrix_product(h, weight).to(at::kFloat);  // n×V, logits at first
    auto totals = at::mv(h.to(at::kFloat), weight_sum);
    if (bias.defined()) {
      slope.add_(bias);
      totals.add_(bias.sum());
    }
    const auto wanted = targets.contiguous();
    const int64_t rows = slope.size(0), vocabulary = slope.size(1);
    std::vector<RowSums> sums(static_cast<size_t>(rows));
    at::parallel_for(0, rows, 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        sums[static_cast<size_t>(i)] =
            finish_row(slope.data_ptr<float>() + i * vocabulary, vocabulary, wanted.data_ptr<int64_t>()[i],
                       static_cast<double>(totals.data_ptr<float>()[i]), smoothing);
      }
    });
    for (const RowSums& row : sums) {  // in order, so that the sum does not depend on the threads
      loss += row.loss;
      nll += row.nll;
      correct += row.correct ? 1 : 0;
    }
    if (!gradients) return {};
    if (bias.defined()) bias_gradient.add_(slope.sum(0));
    slope = slope.to(weight.scalar_type());
    if (weight.scalar_type() == at::kBFloat16) {
      weight_gradient.add_(at::mm(slope.t(), h));
    } else {
      add_matrix_product(weight_gradient, slope.t(), h.t());
    }
    return matrix_product(slope, weight.t()).to(hidden.scalar_type());
  }
};

class CrossEntropy : public torch::autograd::Function<CrossEntropy> {
 public:
  /// `given_bias`: of no entries where there is none, since autograd asks every input for its device.
  static variable_list forward(AutogradContext* context, const at::Tensor& hidden, const at::Tensor& weight,
                               const at::Tensor& given_bias, const at::Tensor& targets, double smoothing,
                               bool gradients) {
    const at::Tensor bias = given_bias.numel() > 0 ? given_bias : at::Tensor();
    const bool half = at::autocast::is_autocast_enabled(at::kCPU);
    auto zeros_like = [&](const at::Tensor& tensor) {
      return gradients && tensor.defined() ? at::zeros(tensor.sizes(), at::kFloat) : at::Tensor();
    };
    ChunkWork work{.weight = half ? weight.to(at::autocast::get_autocast_dtype(at::kCPU)) : weight,
                   .bias = bias.defined() ? bias.to(at::kFloat) : bias,
                   .smoothing = smoothing,
                   .gradients = gradients,
                   .weight_gradient = zeros_like(weight),
                   .bias_gradient = zeros_like(bias),
                   .weight_sum = weight.to(at::kFloat).sum(0)};
    const int64_t rows = hidden.size(0), chunk = std::max<int64_t>(1, kChunkEntries / weight.size(0));
    auto hidden_gradient = gradients ? at::empty_like(hidden) : at::Tensor();
    for (int64_t begin = 0; begin < rows; begin += chunk) {
      const int64_t count = std::min(chunk, rows - begin);
      const auto gradient = work.add(hidden.narrow(0, begin, count), targets.narrow(0, begin, count));
      if (gradients) hidden_gradient.narrow(0, begin, count).copy_(gradient);
    }
    context->save_for_backward({hidden_gradient, work.weight_gradient, work.bias_gradient});
    auto number = [](double value) { return at::scalar_tensor(value, at::kDouble); };
    variable_list sums = {number(work.loss), number(work.nll), number(static_cast<double>(work.correct))};
    context->mark_non_differentiable({sums[1], sums[2]});
    return sums;
  }

  static variable_list backward(AutogradContext* context, variable_list slopes) {
    const auto saved = context->get_saved_variables();
    const double slope = slopes[0].item<double>();
    if (slope == 1) return {saved[0], saved[1], saved[2], {}, {}, {}};  // a training step's: no copy of V×D
    return {saved[0] * slope, saved[1] * slope, saved[2].defined() ? saved[2] * slope : saved[2], {}, {}, {}};
  }
};

}  // namespace

LossSum cross_entropy(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& bias,
                      const at::Tensor& targets, double smoothing) {
  RECORD_FUNCTION("synthesizer::cross_entropy", c10::ArrayRef<c10::IValue>(), at::sequence_number::peek());
  const bool gradients = c10::GradMode::is_enabled() && (hidden.requires_grad() || weight.requires_grad());
  const auto given_bias = bias.defined() ? bias : at::empty({0});
  const auto sums = CrossEntropy::apply(hidden, weight, given_bias, targets, smoothing, gradients);
  return {sums[0], sums[1].item<double>(), targets.size(0), static_cast<int64_t>(sums[2].item<double>())};
}

}  // namespace synthesizer
