#include "model/prepare.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "attention/attention.h"
#include "base/error.h"
#include "model/embedding.h"
#include "model/linear.h"
#include "model/output.h"

namespace synthesizer {
namespace {

/// The matrices of one module, without their names.
std::vector<MatrixSlot> own_slots(torch::nn::Module& module) {
  if (auto* linear = dynamic_cast<Linear*>(&module)) return {{"", linear->weight(), &linear->form(), true}};
  if (auto* output = dynamic_cast<Output*>(&module)) return {{"", output->tensor(), &output->form(), true}};
  if (auto* embedding = dynamic_cast<Embedding*>(&module))
    return {{"", embedding->weight(), &embedding->form(), false}};
  std::vector<MatrixSlot> slots;
  if (auto* attention = dynamic_cast<AttentionImpl*>(&module)) {
    const auto& declared = attention->mixer().parameters();
    for (size_t n = 0; n < declared.size(); ++n) {
      if (declared[n].linear) slots.push_back({"", attention->tensors()[n], &attention->form(n), true});
    }
  }
  return slots;
}

}  // namespace

std::vector<MatrixSlot> matrix_slots(const torch::nn::Module& model) {
  std::vector<MatrixSlot> slots;
  for (const auto& module : model.modules(/*include_self=*/false)) {
    for (MatrixSlot& slot : own_slots(*module)) {
      auto same = [&](const MatrixSlot& other) { return other.tensor.is_same(slot.tensor); };
      const auto found = std::find_if(slots.begin(), slots.end(), same);
      if (found == slots.end()) {
        slots.push_back(std::move(slot));
      } else {  // an embedding that is the output's table too
        found->multiplies |= slot.multiplies;
      }
    }
  }
  for (const auto& item : model.named_parameters()) {
    for (MatrixSlot& slot : slots) {
      if (slot.tensor.is_same(item.value())) slot.name = item.key();
    }
  }
  return slots;
}

void prepare_for_inference(torch::nn::Module& model) {
  c10::NoGradGuard no_grad;
  model.eval();
  for (const auto& module : model.modules(/*include_self=*/false)) {
    if (auto* attention = dynamic_cast<AttentionImpl*>(module.get())) attention->prepare();
  }
  for (const MatrixSlot& slot : matrix_slots(model)) {
    if (slot.multiplies && !*slot.form) *slot.form = std::make_shared<PackedMatrix>(slot.tensor);
  }
}

void share_tensors(const torch::nn::Module& from, torch::nn::Module& to) {
  auto share = [](const auto& ours, const auto& theirs) {
    for (const auto& item : theirs) item.value().set_data(ours[item.key()].detach());
  };
  share(from.named_parameters(), to.named_parameters());
  share(from.named_buffers(), to.named_buffers());
  const auto given = matrix_slots(from);
  auto taken = matrix_slots(to);
  for (size_t n = 0; n < given.size(); ++n) *taken[n].form = *given[n].form;
}

void replace_by(std::shared_ptr<const QuantizedMatrix> form, const MatrixSlot& slot) {
  const auto nothing = at::full({1, 1}, std::numeric_limits<float>::quiet_NaN()).expand(slot.tensor.sizes());
  at::Tensor(slot.tensor).set_data(nothing);
  *slot.form = std::move(form);
}

void quantize(torch::nn::Module& model, Quantization kind) {
  for (const MatrixSlot& slot : matrix_slots(model)) {
    if (!as_quantized(*slot.form)) replace_by(quantized_matrix(slot.tensor, kind), slot);
  }
}

std::optional<Quantization> quantization(const torch::nn::Module& model) {
  for (const MatrixSlot& slot : matrix_slots(model)) {
    if (const QuantizedMatrix* quantized = as_quantized(*slot.form)) return quantized->kind();
  }
  return std::nullopt;
}

void check_not_quantized(const torch::nn::Module& model, const std::string& run) {
  if (!quantization(model)) return;
  invalid(fmt::format(
      "{} is quantized and cannot be trained, converted or exported: use the run it was exported from", run));
}

}  // namespace synthesizer
