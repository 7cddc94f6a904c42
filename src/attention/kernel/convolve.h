#pragma once

#include <ATen/core/Tensor.h>

namespace synthesizer {

/// The operator under light-conv and dynamic-conv, a depthwise convolution along the length:
///
///     Y[b, i, c] = Σ_t weight[b, i, h, t] · input[b, i + t - left, c]        c a channel of head h
///
/// input B×L×D gives B×L×D, contiguous. weight: B×L×H×w, or H×w where all positions share it; head h has
/// channels h·D/H … (h+1)·D/H, and H = D is a kernel for each channel (fastest where the weights of one tap
/// lie side by side). `left`: how many of the w taps come before a position, from 0 to w - 1. What
/// lies outside of the sequence counts as zeros. `lengths` (B, int64) or undefined: inputs from there on
/// count as zeros too, and such rows of Y are zero. Differentiable once in input and weight. Registered as
/// torch.ops.synthesizer.convolve.
///
/// Two paths, one result: vector code for float32 and bfloat16 on the CPU, which reads the input where it
/// lies; everywhere else plain ATen, tap by tap. Neither makes w copies of the input.
at::Tensor convolve(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& lengths,
                    int64_t left);

}  // namespace synthesizer
