#include "model/quantize.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <vector>

#include "attention/attention.h"
#include "attention/weight_form.h"
#include "base/error.h"
#include "model/embedding.h"
#include "model/linear.h"
#include "model/output.h"

namespace synthesizer {
namespace {

/// The weights of a module that meet their inputs in linear_map() or look_up() alone.
std::vector<at::Tensor> matrices_of(const torch::nn::Module& module) {
  if (const auto* linear = dynamic_cast<const Linear*>(&module)) return {linear->weight()};
  if (const auto* embedding = dynamic_cast<const Embedding*>(&module)) return {embedding->weight()};
  if (const auto* output = dynamic_cast<const Output*>(&module)) return {output->weight()};
  std::vector<at::Tensor> matrices;
  if (const auto* attention = dynamic_cast<const AttentionImpl*>(&module)) {
    const auto& declared = attention->mixer().parameters();
    for (size_t n = 0; n < declared.size(); ++n) {
      if (declared[n].linear) matrices.push_back(attention->tensors()[n]);
    }
  }
  return matrices;
}

}  // namespace

void quantize(torch::nn::Module& model, const std::string& kind) {
  if (kind != "int8") invalid(fmt::format("weights cannot be quantized to '{}': int8", kind));
  for (const auto& module : model.modules(/*include_self=*/false)) {
    for (const at::Tensor& matrix : matrices_of(*module)) {
      if (!int8_of(matrix)) replace_by_int8(matrix, quantize_int8(matrix));  // a tied one comes twice
    }
  }
}

bool quantized(const torch::nn::Module& model) {
  for (const at::Tensor& parameter : model.parameters()) {
    if (int8_of(parameter)) return true;
  }
  return false;
}

void check_not_quantized(const torch::nn::Module& model, const std::string& run) {
  if (!quantized(model)) return;
  invalid(fmt::format("{} is quantized, to be used as it is: take the run it was exported from", run));
}

}  // namespace synthesizer
