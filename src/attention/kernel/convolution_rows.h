#pragma once

#include <algorithm>
#include <cstdint>

namespace synthesizer::kernel {

/// The shape of one sample of a convolution, whose rows of heads · width channels lie one after another. A
/// "head" is a group of channels that share a kernel.
struct ConvolutionShape {
  int64_t length;  ///< rows that are not padding
  int64_t heads, width;
  int64_t taps, left;
  int64_t
      kernel_stride;  ///< from the weights (heads×taps) of a row to those of the next; 0 where all share them
  int64_t head_stride, tap_stride;  ///< from the weights of a head to those of the next, and from tap to tap

  /// A kernel per channel, and weights of one tap side by side: vectors go over channels.
  bool each_channel() const { return width == 1 && head_stride == 1; }

  int64_t channels() const { return heads * width; }

  /// Of the taps of a row, those that meet a row of the sample: [first, last). None for padding.
  struct Range {
    int64_t first, last;
    int64_t count() const { return last - first; }
  };
  Range inside(int64_t row) const {
    if (row >= length) return {0, 0};
    const int64_t first = std::max<int64_t>(0, left - row);
    return {first, std::max(first, std::min(taps, length + left - row))};
  }
};

// Vector code that is chosen when the program runs (AVX-512, AVX2, …), for rows [begin, end) of a sample. All
// pointers are those of the sample's first row. Padding gives zeros.

/// output_i = Σ_t weight_it · input_(i + t - left), head by head.
void convolve_rows(const ConvolutionShape& shape, const float* input, const float* weight, float* output,
                   int64_t begin, int64_t end);

/// The gradient of rows of the input, from that of all of the output.
void convolve_rows_backward(const ConvolutionShape& shape, const float* grad, const float* weight,
                            float* input_grad, int64_t begin, int64_t end);

/// The gradient (heads×taps, laid out as the weights of one row) of one kernel that these rows share.
void kernel_backward(const ConvolutionShape& shape, const float* grad, const float* input, float* kernel_grad,
                     int64_t begin, int64_t end);

}  // namespace synthesizer::kernel
