// The convolution on the CPU: samples in blocks of rows, shared out among threads. Blocks are the same for
// any number of threads, and so are the bits of the result.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "attention/kernel/convolution.h"
#include "attention/kernel/convolution_rows.h"

namespace synthesizer::kernel {
namespace {

constexpr int64_t kBlockRows = 32;  ///< of a block: with the kernel's reach on both sides they fit a cache

at::Tensor contiguous_float(const at::Tensor& t) {
  return t.to(at::kFloat).contiguous();
}

/// The weights as the vector code reads them: (B×L×)H×w, or with a kernel per channel (B×L×)w×H, which costs
/// no copy where they come from a softmax over taps.
at::Tensor weights_in_order(const ConvolutionProblem& p) {
  return contiguous_float(p.each_channel() ? p.weight.transpose(-1, -2) : p.weight);
}

/// Their gradient, of the same order, laid out as the weights.
at::Tensor weight_gradient_of(const ConvolutionProblem& p, const at::Tensor& in_order) {
  const auto gradient = (p.each_channel() ? in_order.transpose(-1, -2) : in_order).to(p.weight.scalar_type());
  auto result = at::empty_like(p.weight);
  return gradient.strides() == result.strides() ? gradient : result.copy_(gradient);
}

/// Calls body(block, sample, its shape, begin, end) for every block of rows.
template <class Body>
void for_each_block(const ConvolutionProblem& p, const Body& body) {
  const auto lengths = p.lengths.defined() ? p.lengths.contiguous() : p.lengths;
  const int64_t blocks = (p.rows() + kBlockRows - 1) / kBlockRows;
  const ConvolutionShape full{p.rows(),
                              p.heads(),
                              p.channels() / p.heads(),
                              p.taps(),
                              p.left,
                              p.shared() ? 0 : p.heads() * p.taps(),
                              p.each_channel() ? 1 : p.taps(),
                              p.each_channel() ? p.heads() : 1};
  at::parallel_for(0, p.batch() * blocks, 1, [&](int64_t first, int64_t last) {
    for (int64_t block = first; block < last; ++block) {
      const int64_t b = block / blocks, begin = block % blocks * kBlockRows;
      ConvolutionShape shape = full;
      if (lengths.defined()) shape.length = lengths.const_data_ptr<int64_t>()[b];
      body(block, b, shape, begin, std::min(begin + kBlockRows, p.rows()));
    }
  });
}

/// Where sample b of B×L×D begins, and where its weights do.
struct Places {
  explicit Places(const ConvolutionProblem& p)
      : sample(p.rows() * p.channels()), kernel(p.shared() ? 0 : p.rows() * p.heads() * p.taps()) {}
  int64_t sample, kernel;
};

at::Tensor input_gradient(const ConvolutionProblem& p, const at::Tensor& grad) {
  const auto weight = weights_in_order(p);
  auto result = at::empty(p.input.sizes(), grad.options());
  const float *dy = grad.const_data_ptr<float>(), *w = weight.const_data_ptr<float>();
  float* to = result.data_ptr<float>();
  const Places at(p);
  for_each_block(p, [&](int64_t, int64_t b, const ConvolutionShape& shape, int64_t begin, int64_t end) {
    convolve_rows_backward(shape, dy + b * at.sample, w + b * at.kernel, to + b * at.sample, begin, end);
  });
  return result.to(p.input.scalar_type());
}

at::Tensor weight_gradient(const ConvolutionProblem& p, const at::Tensor& grad) {
  const auto input = contiguous_float(p.input);
  const float *dy = grad.const_data_ptr<float>(), *x = input.const_data_ptr<float>();
  const Places at(p);
  const int64_t kernel = p.heads() * p.taps();
  if (!p.shared()) {
    auto result = at::empty({p.batch(), p.rows(), p.each_channel() ? p.taps() : p.heads(),
                             p.each_channel() ? p.heads() : p.taps()},
                            grad.options());
    float* to = result.data_ptr<float>();
    for_each_block(p, [&](int64_t, int64_t b, const ConvolutionShape& shape, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        kernel_backward(shape, dy + b * at.sample, x + b * at.sample, to + b * at.kernel + i * kernel, i,
                        i + 1);
      }
    });
    return weight_gradient_of(p, result);
  }
  // A sum for each block, and those added up in their order.
  const int64_t blocks = p.batch() * ((p.rows() + kBlockRows - 1) / kBlockRows);
  auto sums = at::empty({blocks, kernel}, grad.options());
  float* to = sums.data_ptr<float>();
  for_each_block(p, [&](int64_t block, int64_t b, const ConvolutionShape& shape, int64_t begin, int64_t end) {
    kernel_backward(shape, dy + b * at.sample, x + b * at.sample, to + block * kernel, begin, end);
  });
  auto result = at::zeros({p.each_channel() ? p.taps() : p.heads(), p.each_channel() ? p.heads() : p.taps()},
                          grad.options());
  float* total = result.data_ptr<float>();
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t n = 0; n < kernel; ++n) total[n] += to[block * kernel + n];
  }
  return weight_gradient_of(p, result);
}

}  // namespace

at::Tensor vector_convolve(const ConvolutionProblem& p) {
  const auto input = contiguous_float(p.input), weight = weights_in_order(p);
  auto result = at::empty(p.input.sizes(), input.options());
  const float *x = input.const_data_ptr<float>(), *w = weight.const_data_ptr<float>();
  float* y = result.data_ptr<float>();
  const Places at(p);
  for_each_block(p, [&](int64_t, int64_t b, const ConvolutionShape& shape, int64_t begin, int64_t end) {
    convolve_rows(shape, x + b * at.sample, w + b * at.kernel, y + b * at.sample, begin, end);
  });
  return result.to(p.input.scalar_type());
}

ConvolutionGradients vector_convolve_backward(const ConvolutionProblem& p, const at::Tensor& grad,
                                              std::array<bool, 2> wanted) {
  const auto dy = contiguous_float(grad);
  return {wanted[0] ? input_gradient(p, dy) : at::Tensor(),
          wanted[1] ? weight_gradient(p, dy) : at::Tensor()};
}

}  // namespace synthesizer::kernel
