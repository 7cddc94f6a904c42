#include "attention/kernel/convolution_rows.h"

// Highway compiles the rest of this file once for each instruction set, in namespaces of their own.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernel/convolution_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// must come after highway.h
#include "attention/kernel/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace synthesizer::kernel {
namespace HWY_NAMESPACE {

/// `kVectors` vectors of channels of Σ_n weight[n] · row[n], which stay in registers.
template <int kVectors>
HWY_INLINE void combine_vectors(int64_t count, const float* weight, int64_t weight_stride, const float* row,
                                int64_t row_stride, float* out) {
  const D d;
  const int64_t step = lanes();
  V sum[kVectors];
  for (int v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
  for (int64_t n = 0; n < count; ++n, weight += weight_stride, row += row_stride) {
    const V factor = hn::Set(d, *weight);
    for (int v = 0; v < kVectors; ++v) sum[v] = hn::MulAdd(factor, hn::LoadU(d, row + v * step), sum[v]);
  }
  for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[v], d, out + v * step);
}

/// out = Σ_n weight[n] · row[n] for n < count, where weights and rows of `width` lie at the given strides.
HWY_INLINE void combine(int64_t width, int64_t count, const float* weight, int64_t weight_stride,
                        const float* row, int64_t row_stride, float* out) {
  const int64_t step = lanes();
  int64_t c = 0;
  for (; c + 4 * step <= width; c += 4 * step) {
    combine_vectors<4>(count, weight, weight_stride, row + c, row_stride, out + c);
  }
  for (; c + step <= width; c += step) {
    combine_vectors<1>(count, weight, weight_stride, row + c, row_stride, out + c);
  }
  for (; c < width; ++c) {
    float sum = 0;
    for (int64_t n = 0; n < count; ++n) sum += weight[n * weight_stride] * row[n * row_stride + c];
    out[c] = sum;
  }
}

/// out = Σ_n weight[n] ⊙ row[n] for n < count: a weight for each channel.
HWY_INLINE void combine_each(int64_t channels, int64_t count, const float* weight, int64_t weight_stride,
                             const float* row, int64_t row_stride, float* out) {
  const D d;
  for_each(
      channels,
      [&](int64_t c) {
        V sum = hn::Zero(d);
        for (int64_t n = 0; n < count; ++n) {
          sum = hn::MulAdd(hn::LoadU(d, weight + n * weight_stride + c),
                           hn::LoadU(d, row + n * row_stride + c), sum);
        }
        hn::StoreU(sum, d, out + c);
      },
      [&](int64_t c) {
        float sum = 0;
        for (int64_t n = 0; n < count; ++n) sum += weight[n * weight_stride + c] * row[n * row_stride + c];
        out[c] = sum;
      });
}

/// to = Σ a ⊙ b over rows that lie `stride` apart in both.
HWY_INLINE void product_each(int64_t rows, int64_t channels, const float* a, const float* b, int64_t stride,
                             float* to) {
  const D d;
  for_each(
      channels,
      [&](int64_t c) {
        V sum = hn::Zero(d);
        for (int64_t r = 0; r < rows; ++r) {
          sum = hn::MulAdd(hn::LoadU(d, a + r * stride + c), hn::LoadU(d, b + r * stride + c), sum);
        }
        hn::StoreU(sum, d, to + c);
      },
      [&](int64_t c) {
        float sum = 0;
        for (int64_t r = 0; r < rows; ++r) sum += a[r * stride + c] * b[r * stride + c];
        to[c] = sum;
      });
}

/// Σ a · b over rows of `width` that lie `stride` apart in both.
HWY_INLINE float inner_product(int64_t rows, int64_t width, const float* a, const float* b, int64_t stride) {
  const D d;
  const int64_t step = lanes();
  V even = hn::Zero(d), odd = hn::Zero(d);
  float rest = 0;
  for (int64_t r = 0; r < rows; ++r, a += stride, b += stride) {
    int64_t c = 0;
    for (; c + 2 * step <= width; c += 2 * step) {
      even = hn::MulAdd(hn::LoadU(d, a + c), hn::LoadU(d, b + c), even);
      odd = hn::MulAdd(hn::LoadU(d, a + c + step), hn::LoadU(d, b + c + step), odd);
    }
    for (; c + step <= width; c += step) even = hn::MulAdd(hn::LoadU(d, a + c), hn::LoadU(d, b + c), even);
    for (; c < width; ++c) rest += a[c] * b[c];
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd))) + rest;
}

void ConvolveRows(const ConvolutionShape& shape, const float* input, const float* weight, float* output,
                  int64_t begin, int64_t end) {
  const int64_t channels = shape.channels();
  for (int64_t i = begin; i < end; ++i) {
    const ConvolutionShape::Range taps = shape.inside(i);
    const float* kernel = weight + i * shape.kernel_stride + taps.first * shape.tap_stride;
    const float* row = input + (i + taps.first - shape.left) * channels;
    if (shape.each_channel()) {
      combine_each(channels, taps.count(), kernel, shape.tap_stride, row, channels, output + i * channels);
      continue;
    }
    for (int64_t h = 0; h < shape.heads; ++h) {
      combine(shape.width, taps.count(), kernel + h * shape.head_stride, shape.tap_stride,
              row + h * shape.width, channels, output + i * channels + h * shape.width);
    }
  }
}

void ConvolveRowsBackward(const ConvolutionShape& shape, const float* grad, const float* weight,
                          float* input_grad, int64_t begin, int64_t end) {
  const int64_t channels = shape.channels();
  for (int64_t j = begin; j < end; ++j) {
    // Tap t of row i = j + left - t meets row j: as t grows, i falls.
    int64_t first = std::max<int64_t>(0, j + shape.left - shape.length + 1);
    const int64_t last = j < shape.length ? std::min(shape.taps, j + shape.left + 1) : 0;
    first = std::min(first, last);
    const int64_t i = j + shape.left - first;
    const float* kernel = weight + i * shape.kernel_stride + first * shape.tap_stride;
    const int64_t next = shape.tap_stride - shape.kernel_stride;
    if (shape.each_channel()) {
      combine_each(channels, last - first, kernel, next, grad + i * channels, -channels,
                   input_grad + j * channels);
      continue;
    }
    for (int64_t h = 0; h < shape.heads; ++h) {
      combine(shape.width, last - first, kernel + h * shape.head_stride, next,
              grad + i * channels + h * shape.width, -channels, input_grad + j * channels + h * shape.width);
    }
  }
}

void KernelBackward(const ConvolutionShape& shape, const float* grad, const float* input, float* kernel_grad,
                    int64_t begin, int64_t end) {
  const int64_t channels = shape.channels();
  for (int64_t t = 0; t < shape.taps; ++t) {
    const int64_t shift = t - shape.left;
    const int64_t first = std::max(begin, -shift);
    const int64_t last = std::min({end, shape.length, shape.length - shift});
    const int64_t rows = std::max<int64_t>(0, last - first);
    if (shape.each_channel()) {
      product_each(rows, channels, grad + first * channels, input + (first + shift) * channels, channels,
                   kernel_grad + t * shape.tap_stride);
      continue;
    }
    for (int64_t h = 0; h < shape.heads; ++h) {
      kernel_grad[h * shape.head_stride + t * shape.tap_stride] =
          inner_product(rows, shape.width, grad + first * channels + h * shape.width,
                        input + (first + shift) * channels + h * shape.width, channels);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace synthesizer::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace synthesizer::kernel {

HWY_EXPORT(ConvolveRows);
HWY_EXPORT(ConvolveRowsBackward);
HWY_EXPORT(KernelBackward);

void convolve_rows(const ConvolutionShape& shape, const float* input, const float* weight, float* output,
                   int64_t begin, int64_t end) {
  HWY_DYNAMIC_DISPATCH(ConvolveRows)(shape, input, weight, output, begin, end);
}
void convolve_rows_backward(const ConvolutionShape& shape, const float* grad, const float* weight,
                            float* input_grad, int64_t begin, int64_t end) {
  HWY_DYNAMIC_DISPATCH(ConvolveRowsBackward)(shape, grad, weight, input_grad, begin, end);
}
void kernel_backward(const ConvolutionShape& shape, const float* grad, const float* input, float* kernel_grad,
                     int64_t begin, int64_t end) {
  HWY_DYNAMIC_DISPATCH(KernelBackward)(shape, grad, input, kernel_grad, begin, end);
}

}  // namespace synthesizer::kernel
#endif  // HWY_ONCE
