#include "interop/references.h"

#include <ATen/ATen.h>

#include "base/file.h"
#include "train/safetensors.h"

namespace synthesizer::testing {

Reference::Reference(const std::string& name)
    : folder(std::string(REFERENCES) + "/" + name),
      expected(nlohmann::json::parse(read_file(folder + "/expected.json"))) {
  const TensorFile file(folder + "/expected.safetensors");
  for (const std::string& one : file.names()) tensors[one] = file.tensor(one).clone();
}

double largest_difference(const at::Tensor& ours, const at::Tensor& theirs, const at::Tensor& lengths) {
  const auto real = at::arange(theirs.size(1), at::kLong).lt(lengths.unsqueeze(1)).unsqueeze(2);  // B×L×1
  return at::where(real, ours - theirs, at::zeros({})).abs().max().item<double>();
}

}  // namespace synthesizer::testing
