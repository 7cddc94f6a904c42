#include "interop/onnx_model.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace synthesizer {

OnnxValue OnnxModel::narrowed(const OnnxValue& x, int64_t axis, const OnnxValue& length) {
  return graph.node("Slice", {x, graph.wholes({0}), length, graph.wholes({axis})});
}

OnnxValue OnnxModel::linear(const OnnxValue& x, const std::string& name) {
  // Stored as MatMul takes it, in×out.
  const OnnxValue matrix = graph.tensor(name + ".weight", values(name + ".weight").t());
  const OnnxValue y = matmul(x, matrix);
  return has(name + ".bias") ? add(y, weight(name + ".bias")) : y;
}

OnnxValue OnnxModel::split_heads(const OnnxValue& x) {
  return transpose(reshape(x, {0, 0, options.heads, options.width / options.heads}), {0, 2, 1, 3});
}

OnnxValue OnnxModel::join_heads(const OnnxValue& y) {
  return reshape(transpose(y, {0, 2, 1, 3}), {0, 0, options.width});
}

OnnxValue OnnxModel::scaled_product(const OnnxValue& query, const OnnxValue& key) {
  const int64_t head_width = options.width / options.heads;
  const double scale = 1 / std::sqrt(static_cast<double>(head_width));
  const OnnxValue scaled = multiply(query, graph.number(static_cast<float>(scale)));
  return matmul(scaled, transpose(key, {0, 1, 3, 2}));
}

OnnxValue OnnxModel::attend(const OnnxValue& logits, const OnnxValue& visible, const OnnxValue& value) {
  if (visible.empty()) return matmul(softmax(logits), value);
  // Not -infinity: a row of nothing else would be NaN.
  const OnnxValue hidden = graph.number(std::numeric_limits<float>::lowest());
  return matmul(softmax(graph.node("Where", {visible, logits, hidden})), value);
}

OnnxValue OnnxModel::size_of(const OnnxValue& x, int64_t axis) {
  return graph.node("Shape", {x}, {{"start", axis}, {"end", axis + 1}});
}

OnnxValue OnnxModel::places(const OnnxValue& size) {
  return graph.node("Range", {graph.whole(0), graph.node("Squeeze", {size}), graph.whole(1)});
}

}  // namespace synthesizer
