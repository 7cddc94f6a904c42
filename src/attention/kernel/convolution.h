#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <tuple>

namespace synthesizer::kernel {

/// Everything one call of `convolve` is asked to compute, with its sizes.
struct ConvolutionProblem {
  at::Tensor input;    ///< B×L×D
  at::Tensor weight;   ///< B×L×H×w, or H×w
  at::Tensor lengths;  ///< B, int64, or undefined
  int64_t left;

  int64_t batch() const { return input.size(0); }
  int64_t rows() const { return input.size(1); }
  int64_t channels() const { return input.size(2); }
  int64_t heads() const { return weight.size(-2); }
  int64_t taps() const { return weight.size(-1); }
  bool shared() const { return weight.dim() == 2; }  ///< one kernel for all positions
  /// A kernel per channel: the vector code then wants the weights of one tap side by side.
  bool each_channel() const { return heads() == channels(); }

  /// Throws InvalidInput where the parts don't fit together, before anything is computed.
  void check() const;
};

/// Gradients of input and weight; undefined where not wanted.
using ConvolutionGradients = std::tuple<at::Tensor, at::Tensor>;

/// Vector code: float32 and bfloat16 (widened inside) on the CPU. The same bits for any number of threads.
at::Tensor vector_convolve(const ConvolutionProblem& problem);
ConvolutionGradients vector_convolve_backward(const ConvolutionProblem& problem, const at::Tensor& grad,
                                              std::array<bool, 2> wanted);

/// Plain ATen: any device and dtype. What the vector code is compared with.
at::Tensor plain_convolve(const ConvolutionProblem& problem);
ConvolutionGradients plain_convolve_backward(const ConvolutionProblem& problem, const at::Tensor& grad,
                                             std::array<bool, 2> wanted);

}  // namespace synthesizer::kernel
