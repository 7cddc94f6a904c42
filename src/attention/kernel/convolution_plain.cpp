// The convolution as ATen operations on whole tensors, tap by tap: any device, any of the dtypes.

#include <ATen/ATen.h>

#include <algorithm>

#include "attention/kernel/convolution.h"

namespace synthesizer::kernel {
namespace {

/// The rows that a tap connects: row `row` + n with input `input` + n, for n < `count`.
struct TapRange {
  int64_t row, input, count;
};

TapRange tap_range(const ConvolutionProblem& p, int64_t tap) {
  const int64_t shift = tap - p.left, row = std::max<int64_t>(0, -shift);
  return {row, row + shift, std::max<int64_t>(0, p.rows() - std::abs(shift))};
}

/// A problem's tensors in the dtype of computation, without what is padding.
struct PlainConvolution {
  explicit PlainConvolution(const ConvolutionProblem& problem)
      : p(problem), dtype(p.input.scalar_type() == at::kDouble ? at::kDouble : at::kFloat) {
    if (p.lengths.defined()) {
      padding = at::arange(p.rows(), p.lengths.options())
                    .ge(p.lengths.unsqueeze(1))
                    .view({p.batch(), p.rows(), 1, 1});
    }
    weight = p.weight.to(dtype);
  }
  /// B×L×D as B×L×H×K.
  at::Tensor heads(const at::Tensor& t) const {
    auto split = t.to(dtype).reshape({p.batch(), p.rows(), p.heads(), p.channels() / p.heads()});
    return padding.defined() ? split.masked_fill(padding, 0) : split;
  }
  at::Tensor joined(const at::Tensor& t) const {
    auto whole = padding.defined() ? t.masked_fill(padding, 0) : t;
    return whole.reshape(p.input.sizes()).to(p.input.scalar_type());
  }
  /// The weights of a tap for the rows it reaches, to multiply B×n×H×K with.
  at::Tensor tap(int64_t t, const TapRange& r) const {
    const auto all = weight.select(-1, t).unsqueeze(-1);  // (B×L×)H×1
    return p.shared() ? all : all.narrow(1, r.row, r.count);
  }

  const ConvolutionProblem& p;
  at::ScalarType dtype;
  at::Tensor padding;  ///< B×L×1×1, or undefined
  at::Tensor weight;
};

}  // namespace

at::Tensor plain_convolve(const ConvolutionProblem& p) {
  const PlainConvolution plain(p);
  const auto input = plain.heads(p.input);
  auto y = at::zeros_like(input);
  for (int64_t t = 0; t < p.taps(); ++t) {
    const TapRange r = tap_range(p, t);
    if (r.count > 0) y.narrow(1, r.row, r.count) += input.narrow(1, r.input, r.count) * plain.tap(t, r);
  }
  return plain.joined(y);
}

ConvolutionGradients plain_convolve_backward(const ConvolutionProblem& p, const at::Tensor& grad,
                                             std::array<bool, 2> wanted) {
  const PlainConvolution plain(p);
  const auto input = plain.heads(p.input), dy = plain.heads(grad);
  auto d_input = at::zeros_like(input), d_weight = at::zeros_like(plain.weight);
  for (int64_t t = 0; t < p.taps(); ++t) {
    const TapRange r = tap_range(p, t);
    if (r.count == 0) continue;
    const auto rows = dy.narrow(1, r.row, r.count);  // B×n×H×K
    if (wanted[0]) d_input.narrow(1, r.input, r.count) += rows * plain.tap(t, r);
    if (!wanted[1]) continue;
    const auto products = (rows * input.narrow(1, r.input, r.count)).sum(-1);  // B×n×H
    if (p.shared()) {
      d_weight.select(-1, t).copy_(products.sum({0, 1}));
    } else {
      d_weight.select(-1, t).narrow(1, r.row, r.count).copy_(products);
    }
  }
  return {wanted[0] ? plain.joined(d_input) : at::Tensor(),
          wanted[1] ? d_weight.to(p.weight.scalar_type()) : at::Tensor()};
}

}  // namespace synthesizer::kernel
