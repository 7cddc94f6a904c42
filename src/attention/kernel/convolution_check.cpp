#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "attention/kernel/convolution.h"
#include "attention/kernel/problem.h"
#include "base/error.h"

namespace synthesizer::kernel {

void ConvolutionProblem::check() const {
  auto shape_of = [](const at::Tensor& t) { return fmt::format("{}", fmt::join(t.sizes(), "×")); };
  const auto dtype = input.scalar_type();
  if (dtype != at::kFloat && dtype != at::kBFloat16 && dtype != at::kDouble) {
    invalid(fmt::format("input has dtype {}: it must be float32, bfloat16 or float64", c10::toString(dtype)));
  }
  if (input.dim() != 3) {
    invalid(fmt::format("input has shape {}: it must be batch×length×width", shape_of(input)));
  }
  if (weight.dim() != 2 && weight.dim() != 4) {
    invalid(fmt::format("weight has shape {}: it must be heads×taps or batch×length×heads×taps",
                        shape_of(weight)));
  }
  if (!shared() && (weight.size(0) != batch() || weight.size(1) != rows())) {
    invalid(fmt::format("weight has shape {} for an input of {}: it must begin with batch and length",
                        shape_of(weight), shape_of(input)));
  }
  if (heads() < 1 || taps() < 1 || channels() % heads() != 0) {
    invalid(
        fmt::format("weight has {} heads of {} taps for width {}: it must have at least one of each, and "
                    "heads that divide the width",
                    heads(), taps(), channels()));
  }
  if (left < 0 || left >= taps()) {
    invalid(fmt::format("left is {}: it must be from 0 to {}", left, taps() - 1));
  }
  if (weight.scalar_type() != dtype) {
    invalid(fmt::format("weight has dtype {} and input {}: both must have one",
                        c10::toString(weight.scalar_type()), c10::toString(dtype)));
  }
  if (weight.device() != input.device()) {
    invalid(fmt::format("weight is on {} and input on {}: both must be on one device", weight.device().str(),
                        input.device().str()));
  }
  check_lengths("lengths", lengths, batch(), rows());
}

}  // namespace synthesizer::kernel
