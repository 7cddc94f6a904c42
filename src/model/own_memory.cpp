#include "model/own_memory.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "model/embedding.h"
#include "model/output.h"
#include "model/prepare.h"

namespace synthesizer {
namespace {

/// The tables that are read although a form stands for them in products.
std::vector<at::Tensor> looked_up(const torch::nn::Module& model) {
  std::vector<at::Tensor> tables;
  for (const auto& module : model.modules(/*include_self=*/false)) {
    if (const auto* embedding = dynamic_cast<const Embedding*>(module.get()))
      tables.push_back(embedding->weight());
    if (const auto* output = dynamic_cast<const Output*>(module.get())) tables.push_back(output->tensor());
  }
  return tables;
}

}  // namespace

void own_memory(torch::nn::Module& model) {
  c10::NoGradGuard no_grad;
  const auto slots = matrix_slots(model);
  const auto tables = looked_up(model);
  auto same_as = [](const at::Tensor& tensor) {
    return [&](const auto& other) {
      if constexpr (std::is_same_v<std::decay_t<decltype(other)>, MatrixSlot>) {
        return other.tensor.is_same(tensor) && *other.form;
      } else {
        return other.is_same(tensor);
      }
    };
  };
  auto own = [&](const at::Tensor& tensor) {
    const auto slot = std::find_if(slots.begin(), slots.end(), same_as(tensor));
    const bool table = std::any_of(tables.begin(), tables.end(), same_as(tensor));
    if (slot == slots.end()) return at::Tensor(tensor).set_data(tensor.clone());
    if (!table) return;
    if (const QuantizedMatrix* quantized = as_quantized(*slot->form)) {
      *slot->form = quantized->copy();
    } else {
      at::Tensor(tensor).set_data(tensor.clone());
    }
  };
  for (const at::Tensor& tensor : model.parameters()) own(tensor);
  for (const at::Tensor& tensor : model.buffers()) own(tensor);
}

}  // namespace synthesizer
