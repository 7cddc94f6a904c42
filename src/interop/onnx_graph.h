#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace synthesizer {

/// The name of a tensor in a graph: of an input, of a stored one, or of what a node computes.
using OnnxValue = std::string;

/// Element types, with ONNX's numbers (TensorProto.DataType).
enum class OnnxType : int64_t { float32 = 1, int64 = 7, float64 = 11 };

/// A size that is known, or the name of one that is not: "batch".
using OnnxSize = std::variant<int64_t, std::string>;

/// A whole number, a real one, or a list of whole ones.
using OnnxAttribute = std::variant<int64_t, float, std::vector<int64_t>>;
using OnnxAttributes = std::vector<std::pair<std::string, OnnxAttribute>>;

/// A graph of ONNX operators (opset 17) that grows node by node, and the file that holds it. It knows the
/// format and no model: which operators there are, and what they take, is for the caller to know
/// (onnx.ai/onnx/operators).
class OnnxGraph {
 public:
  explicit OnnxGraph(std::string name) : name_(std::move(name)) {}

  OnnxValue input(const std::string& name, OnnxType type, const std::vector<OnnxSize>& sizes);
  /// The value becomes an output of the graph, under this name.
  void output(const OnnxValue& value, const std::string& name, OnnxType type,
              const std::vector<OnnxSize>& sizes);

  /// A stored tensor (float32, float64 or int64). One that has this name already is used again: what a model
  /// uses several times, such as a tied embedding, is stored once.
  OnnxValue tensor(const std::string& name, const at::Tensor& values);
  OnnxValue number(float value);                         ///< a scalar
  OnnxValue whole(int64_t value);                        ///< a scalar
  OnnxValue wholes(const std::vector<int64_t>& values);  ///< a list: shapes, axes

  /// What the operator computes from its inputs; an empty name is an input that is left out.
  OnnxValue node(const std::string& operation, const std::vector<OnnxValue>& inputs,
                 const OnnxAttributes& attributes = {});

  /// Before the names of nodes that follow: "decoder.layers.0.attention", so that a reader of the graph finds
  /// the module that a node belongs to.
  void set_scope(std::string scope) { scope_ = std::move(scope); }

  /// Inputs and outputs by name, for a description of the file.
  const std::vector<std::string>& inputs() const { return input_names_; }
  const std::vector<std::string>& outputs() const { return output_names_; }

  /// Throws InvalidInput, with the size, where the file would be over the 2 GB that the format can have.
  void write(const std::string& path) const;

 private:
  std::string name_, scope_;
  std::string nodes_, inputs_, outputs_;  ///< encoded fields of GraphProto
  std::vector<std::string> input_names_, output_names_;
  std::map<std::string, at::Tensor> tensors_;
  int64_t node_count_ = 0;
};

}  // namespace synthesizer
