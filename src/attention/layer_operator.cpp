#include "attention/layer_operator.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "attention/kernel/registration.h"
#include "attention/mixer.h"

namespace synthesizer {
namespace {

using MaybeTensor = std::optional<at::Tensor>;

AttentionOptions described_options(std::string_view description) {
  OptionMap all;
  for (size_t begin = 0; begin < description.size();) {
    const size_t end = std::min(description.find(';', begin), description.size());
    const std::string item(description.substr(begin, end - begin));
    const size_t equals = item.find('=');
    if (equals == std::string::npos) {
      invalid(fmt::format("layer '{}' is not the description of a layer: it must be as Attention makes it",
                          description));
    }
    all.parse(item.substr(0, equals), item.substr(equals + 1));
    begin = end + 1;
  }
  AttentionOptions options;
  options.attention = all.text("attention", options.attention);
  options.width = all.integer("width", options.width);
  options.heads = all.integer("heads", options.heads);
  options.max_length = all.integer("max_length", options.max_length);
  options.causal = all.flag("causal", options.causal);
  options.dropout = all.real("dropout", options.dropout);
  options.bias = all.flag("bias", options.bias);
  for (const auto& [name, value] : all.values()) {
    static constexpr std::string_view own[] = {"attention", "width",   "heads", "max_length",
                                               "causal",    "dropout", "bias"};
    if (std::find(std::begin(own), std::end(own), name) == std::end(own)) options.options.set(name, value);
  }
  return options;
}

/// The layer of a description. Layers hold no tensors, so that those in use are kept.
std::shared_ptr<const Mixer> described_layer(std::string_view description) {
  constexpr size_t kMost = 1024;
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Mixer>, std::less<>> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(description); found != known.end()) return found->second;
  std::shared_ptr<const Mixer> layer = make_mixer(described_options(description));
  if (known.size() >= kMost) known.clear();
  known.emplace(description, layer);
  return layer;
}

at::Tensor layer_forward(std::string_view layer, at::TensorList tensors, const at::Tensor& x,
                         const MaybeTensor& lengths, const MaybeTensor& bias, const MaybeTensor& mask,
                         bool training) {
  return described_layer(layer)->forward({tensors.vec(), {}, {}}, x, lengths.value_or(at::Tensor()), training,
                                         bias.value_or(at::Tensor()), mask.value_or(at::Tensor()));
}

at::Tensor layer_weights(std::string_view layer, at::TensorList tensors, const at::Tensor& x,
                         const MaybeTensor& lengths, const MaybeTensor& bias, const MaybeTensor& mask) {
  return described_layer(layer)->weights({tensors.vec(), {}, {}}, x, lengths.value_or(at::Tensor()),
                                         bias.value_or(at::Tensor()), mask.value_or(at::Tensor()));
}

void define_layer(torch::Library& m) {
  m.def(
      "attention_layer(str layer, Tensor[] tensors, Tensor x, Tensor? lengths=None, Tensor? bias=None, "
      "Tensor? mask=None, bool training=False) -> Tensor");
  m.def(
      "attention_layer_weights(str layer, Tensor[] tensors, Tensor x, Tensor? lengths=None, "
      "Tensor? bias=None, Tensor? mask=None) -> Tensor");
}

void add_layer(torch::Library& m) {
  m.impl("attention_layer", TORCH_FN(layer_forward));
  m.impl("attention_layer_weights", TORCH_FN(layer_weights));
}

const kernel::Registration layer_registration("synthesizer::attention_layer", define_layer,
                                              {{c10::DispatchKey::CompositeImplicitAutograd, add_layer}});

}  // namespace

std::string layer_description(const AttentionOptions& o) {
  std::string text = fmt::format("attention={};width={};heads={};max_length={};causal={};dropout={};bias={}",
                                 o.attention, o.width, o.heads, o.max_length, o.causal, o.dropout, o.bias);
  for (const auto& option : o.options.values()) {
    text += std::visit([&](const auto& value) { return fmt::format(";{}={}", option.first, value); },
                       option.second);
  }
  return text;
}

}  // namespace synthesizer
