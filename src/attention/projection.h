#pragma once

#include <string>
#include <vector>

#include "attention/parameter.h"

namespace synthesizer {

/// A linear map of a layer, declared: "name.weight" (out×in) and, where `bias`, "name.bias" …
std::vector<Parameter> projection(const std::string& name, int64_t in, int64_t out, bool bias);

/// … and applied, x …×in to …×out.
at::Tensor project(const Weights& weights, const std::string& name, const at::Tensor& x);

}  // namespace synthesizer
