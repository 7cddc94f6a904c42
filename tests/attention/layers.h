#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attention/attention.h"

// Layers and inputs that several tests share. Everything is drawn from a fixed seed.
namespace synthesizer::testing {

/// One of each, then mixtures of two and more: every kind of part beside every other.
const std::vector<std::string>& mixtures();
/// The variants of the registry and the mixtures, in short form.
std::vector<std::string> all_specs();

/// A spec, and flags, as a test's name: "FD_R_causal".
std::string test_name(std::string text);

/// A layer in which every parameter, biases and mixture weights too, has values other than at the start.
Attention make_layer(const AttentionOptions& options, uint64_t seed = 1);

/// The same parameters in another dtype.
Attention converted(const Attention& layer, at::ScalarType dtype);

/// Standard normal numbers.
at::Tensor noise(at::IntArrayRef shape, uint64_t seed, at::ScalarType dtype = at::kFloat);

/// One token at a time: what step() gives for each, B×L×D as from forward().
at::Tensor by_steps(const Attention& layer, const at::Tensor& x);

/// Lengths of a padded batch: full, half, none, full, half, …
at::Tensor some_lengths(int64_t batch, int64_t length);

/// What a result in that dtype may be off, as a part of the largest entry.
double tolerance(at::ScalarType dtype);

/// Largest difference ≤ tolerance · largest expected entry (and at least `floor`, for what should be near 0).
/// Shapes must be the same; NaN is never close.
::testing::AssertionResult close(const at::Tensor& actual, const at::Tensor& expected, double tolerance,
                                 double floor = 0.1);

/// The same shape and bits.
::testing::AssertionResult same_bits(const at::Tensor& actual, const at::Tensor& expected);

/// The parameters, then the buffers, by name.
std::vector<std::pair<std::string, at::Tensor>> named_tensors(const torch::nn::Module& module);

}  // namespace synthesizer::testing
