#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

#include "interop/onnx_graph.h"
#include "model/options.h"

namespace synthesizer {

/// A model that is being written as a graph: its options, its tensors by name, and what all of its parts use.
/// Shape letters as everywhere: B batch, H heads, L rows, M columns, D width, K head width, N max_length.
class OnnxModel {
 public:
  OnnxModel(std::string name, const ModelOptions& options, const std::map<std::string, at::Tensor>& weights)
      : graph(std::move(name)), options(options), weights_(weights) {}

  bool has(const std::string& name) const { return weights_.contains(name); }
  /// The trained tensor as float32.
  at::Tensor values(const std::string& name) const { return weights_.at(name).detach().to(at::kFloat); }
  /// The same, stored in the graph.
  OnnxValue weight(const std::string& name) { return graph.tensor(name, values(name)); }

  OnnxValue add(const OnnxValue& a, const OnnxValue& b) { return graph.node("Add", {a, b}); }
  OnnxValue multiply(const OnnxValue& a, const OnnxValue& b) { return graph.node("Mul", {a, b}); }
  OnnxValue matmul(const OnnxValue& a, const OnnxValue& b) { return graph.node("MatMul", {a, b}); }
  OnnxValue transpose(const OnnxValue& x, const std::vector<int64_t>& order) {
    return graph.node("Transpose", {x}, {{"perm", order}});
  }
  OnnxValue unsqueeze(const OnnxValue& x, const std::vector<int64_t>& axes) {
    return graph.node("Unsqueeze", {x, graph.wholes(axes)});
  }
  /// A size of 0 is that of x.
  OnnxValue reshape(const OnnxValue& x, const std::vector<int64_t>& shape) {
    return graph.node("Reshape", {x, graph.wholes(shape)});
  }
  OnnxValue softmax(const OnnxValue& x) { return graph.node("Softmax", {x}, {{"axis", int64_t{-1}}}); }

  /// The first `length` (one int64) entries along an axis.
  OnnxValue narrowed(const OnnxValue& x, int64_t axis, const OnnxValue& length);
  /// x Wᵀ (+ b) with "name.weight" (and "name.bias", where there is one).
  OnnxValue linear(const OnnxValue& x, const std::string& name);
  OnnxValue split_heads(const OnnxValue& x);  ///< B×L×D to B×H×L×K
  OnnxValue join_heads(const OnnxValue& y);   ///< B×H×L×K to B×L×D
  /// query keyᵀ / √K, B×H×L×M, of B×H×L×K and B×H×M×K.
  OnnxValue scaled_product(const OnnxValue& query, const OnnxValue& key);
  /// softmax(logits) · value; `visible` (boolean): which logits count; empty: all. A row that sees nothing
  /// has equal weights, which are finite.
  OnnxValue attend(const OnnxValue& logits, const OnnxValue& visible, const OnnxValue& value);
  /// One size of x as a list with one entry.
  OnnxValue size_of(const OnnxValue& x, int64_t axis);
  /// 0 … size - 1.
  OnnxValue places(const OnnxValue& size);

  OnnxGraph graph;
  const ModelOptions& options;

 private:
  const std::map<std::string, at::Tensor>& weights_;
};

/// Positions that layers are applied to, as nodes that all layers of a stack share.
struct OnnxSequence {
  OnnxValue length;   ///< L, one int64
  OnnxValue places;   ///< L: 0 … L-1
  OnnxValue real;     ///< B×L, boolean: no padding; empty where the layers are causal, which see none
  OnnxValue visible;  ///< which logits B×H×L×L count: L×L (causal), or B×1×1×L
  OnnxValue bias;     ///< of relative positions, H×L×L; empty where there are none
};

}  // namespace synthesizer
