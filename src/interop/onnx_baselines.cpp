#include "interop/onnx_baselines.h"

#include <ATen/ATen.h>

namespace synthesizer {
namespace {

/// x B×L×D with zeros in rows of padding; causal layers do not see them.
OnnxValue onnx_without_padding(OnnxModel& model, const OnnxSequence& sequence, const OnnxValue& x) {
  if (sequence.real.empty()) return x;
  return model.graph.node("Where", {model.unsqueeze(sequence.real, {2}), x, model.graph.number(0)});
}

/// How many of a kernel's taps come before a position, and how many after it.
struct OnnxMargins {
  int64_t left, right;
};
OnnxMargins onnx_margins(const AttentionOptions& layer, int64_t taps) {
  const int64_t left = layer.causal ? taps - 1 : taps / 2;
  return {left, taps - 1 - left};
}

/// One kernel per group of channels: a depthwise convolution.
OnnxValue onnx_light_convolution(OnnxModel& model, const OnnxValue& z, const std::string& name,
                                 const AttentionOptions& layer) {
  const at::Tensor kernel = at::softmax(model.values(name + ".kernel.weight"), -1);  // G×w
  const at::Tensor of_channels = kernel.repeat_interleave(layer.width / kernel.size(0), 0).unsqueeze(1);
  const auto [left, right] = onnx_margins(layer, kernel.size(1));
  const OnnxValue y = model.graph.node(
      "Conv", {model.transpose(z, {0, 2, 1}), model.graph.tensor(name + ".kernel.softmax", of_channels)},
      {{"group", layer.width}, {"pads", std::vector<int64_t>{left, right}}});
  return model.transpose(y, {0, 2, 1});
}

/// A kernel from each position: the window around it, times the kernel.
OnnxValue onnx_dynamic_convolution(OnnxModel& model, const OnnxSequence& sequence, const OnnxValue& z,
                                   const OnnxValue& real_z, const std::string& name,
                                   const AttentionOptions& layer) {
  OnnxGraph& graph = model.graph;
  const int64_t groups = layer.options.integer("groups", layer.heads), channels = layer.width / groups;
  const int64_t taps = model.values(name + ".kernel.weight").size(0) / groups;
  const auto [left, right] = onnx_margins(layer, taps);
  // Rows of the matrix go tap by tap where groups are more than heads (attention/convolution.h).
  const OnnxValue all = model.linear(z, name + ".kernel");
  const OnnxValue scores = groups == layer.heads
                               ? model.reshape(all, {0, 0, groups, taps})
                               : model.transpose(model.reshape(all, {0, 0, taps, groups}), {0, 1, 3, 2});
  const OnnxValue kernel = model.unsqueeze(model.softmax(scores), {3});  // B×L×G×1×w
  const OnnxValue padded = graph.node("Pad", {real_z, graph.wholes({0, left, 0, 0, right, 0})});
  const OnnxValue window = model.add(model.unsqueeze(sequence.places, {1}),
                                     graph.tensor(name + ".taps", at::arange(taps, at::kLong)));  // L×w
  const OnnxValue rows = graph.node("Gather", {padded, window}, {{"axis", int64_t{1}}});  // B×L×w×D
  const OnnxValue grouped =
      model.transpose(model.reshape(rows, {0, 0, taps, groups, channels}), {0, 1, 3, 2, 4});  // B×L×G×w×D/G
  return model.reshape(model.matmul(kernel, grouped), {0, 0, layer.width});
}

OnnxValue onnx_convolution(OnnxModel& model, const OnnxSequence& sequence, const OnnxValue& x,
                           const std::string& name, const AttentionOptions& layer, bool dynamic) {
  OnnxGraph& graph = model.graph;
  const OnnxValue both = model.linear(x, name + ".glu");  // B×L×2D
  auto half = [&](int64_t begin) {
    return graph.node("Slice",
                      {both, graph.wholes({begin}), graph.wholes({begin + layer.width}), graph.wholes({2})});
  };
  const OnnxValue z = model.multiply(half(0), graph.node("Sigmoid", {half(layer.width)}));
  const OnnxValue real_z = onnx_without_padding(model, sequence, z);
  const OnnxValue y = dynamic ? onnx_dynamic_convolution(model, sequence, z, real_z, name, layer)
                              : onnx_light_convolution(model, real_z, name, layer);
  return model.linear(y, name + ".output");
}

OnnxValue onnx_linformer(OnnxModel& model, const OnnxSequence& sequence, const OnnxValue& x,
                         const std::string& name) {
  auto along_length = [&](const char* part, const std::string& matrix) {
    const OnnxValue rows = onnx_without_padding(model, sequence, model.linear(x, name + part));
    const OnnxValue cut = model.narrowed(model.weight(matrix), -1, sequence.length);  // k×L, or H×k×L
    return model.matmul(cut, model.split_heads(rows));                                // B×H×k×K
  };
  const std::string of_keys = name + ".project.key", of_values = name + ".project.value";
  const OnnxValue query = model.split_heads(model.linear(x, name + ".query"));
  const OnnxValue key = along_length(".key", of_keys);
  const OnnxValue value = along_length(".value", model.has(of_values) ? of_values : of_keys);
  const OnnxValue y = model.attend(model.scaled_product(query, key), "", value);
  return model.linear(model.join_heads(y), name + ".output");
}

}  // namespace

OnnxValue onnx_baseline(OnnxModel& model, const OnnxSequence& sequence, const OnnxValue& x,
                        const std::string& name, const AttentionOptions& layer, const std::string& kind) {
  if (kind == "linformer") return onnx_linformer(model, sequence, x, name);
  return onnx_convolution(model, sequence, x, name, layer, kind == "dynamic-conv");
}

bool is_onnx_baseline(const std::string& name) {
  return name == "light-conv" || name == "dynamic-conv" || name == "linformer";
}

}  // namespace synthesizer
