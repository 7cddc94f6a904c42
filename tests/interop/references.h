#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace synthesizer::testing {

/// A model folder of tests/interop/references, which tools/make_import_references.py wrote.
struct Reference {
  std::string folder;
  nlohmann::json expected;                    ///< expected.json
  std::map<std::string, at::Tensor> tensors;  ///< expected.safetensors

  explicit Reference(const std::string& name);
};

/// The largest difference of the logits in real rows: B×L×V, lengths B.
double largest_difference(const at::Tensor& ours, const at::Tensor& theirs, const at::Tensor& lengths);

}  // namespace synthesizer::testing
