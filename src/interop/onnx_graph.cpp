#include "interop/onnx_graph.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <limits>
#include <stdexcept>

#include "base/error.h"
#include "base/file.h"
#include "base/protobuf_message.h"
#include "base/version.h"

namespace synthesizer {
namespace {

// The messages, and the numbers of those of their fields that are used (onnx/onnx.proto):
//   ModelProto          ir_version 1 int64, producer_name 2, producer_version 3, graph 7, opset_import 8
//   OperatorSetIdProto  version 2 int64
//   GraphProto          node 1, name 2, initializer 5 TensorProto, input 11, output 12 ValueInfoProto
//   NodeProto           input 1, output 2, name 3, op_type 4, attribute 5
//   AttributeProto      name 1, f 2 float, i 3 int64, ints 8 int64, type 20 enum
//   TensorProto         dims 1 int64, data_type 2 enum, name 8, raw_data 9 bytes (little-endian)
//   ValueInfoProto      name 1, type 2 TypeProto
//   TypeProto           tensor_type 1;  Tensor  elem_type 1 enum, shape 2
//   TensorShapeProto    dim 1;          Dimension  dim_value 1 int64, dim_param 2 string
constexpr int64_t kFormatVersion = 8, kOperatorSet = 17;  // of ONNX 1.12: the first with LayerNormalization
constexpr int64_t kAttributeFloat = 1, kAttributeInt = 2, kAttributeInts = 7;

std::string onnx_attribute(const std::string& name, const OnnxAttribute& value) {
  ProtobufMessage message;
  message.bytes(1, name);
  if (const auto* number = std::get_if<float>(&value)) {
    message.single(2, *number).whole(20, kAttributeFloat);
  } else if (const auto* whole = std::get_if<int64_t>(&value)) {
    message.whole(3, *whole).whole(20, kAttributeInt);
  } else {
    for (const int64_t entry : std::get<std::vector<int64_t>>(value)) message.whole(8, entry);
    message.whole(20, kAttributeInts);
  }
  return message.done();
}

std::string onnx_value_info(const std::string& name, OnnxType type, const std::vector<OnnxSize>& sizes) {
  ProtobufMessage shape;
  for (const OnnxSize& size : sizes) {
    ProtobufMessage dimension;
    if (const auto* known = std::get_if<int64_t>(&size)) {
      dimension.whole(1, *known);
    } else {
      dimension.bytes(2, std::get<std::string>(size));
    }
    shape.bytes(1, dimension.done());
  }
  ProtobufMessage tensor;
  tensor.whole(1, static_cast<int64_t>(type)).bytes(2, shape.done());
  return ProtobufMessage().bytes(1, name).bytes(2, ProtobufMessage().bytes(1, tensor.done()).done()).done();
}

OnnxType onnx_type(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat: return OnnxType::float32;
    case at::kDouble: return OnnxType::float64;
    case at::kLong: return OnnxType::int64;
    default: throw std::logic_error("a tensor of a dtype that no graph of ours stores");
  }
}

/// An initializer up to its numbers, as a field of GraphProto.
std::string onnx_tensor_start(const std::string& name, const at::Tensor& tensor) {
  ProtobufMessage message;
  for (const int64_t size : tensor.sizes()) message.whole(1, size);
  message.whole(2, static_cast<int64_t>(onnx_type(tensor))).bytes(8, name).length(9, tensor.nbytes());
  return ProtobufMessage().length(5, message.done().size() + tensor.nbytes()).done() + message.done();
}

}  // namespace

OnnxValue OnnxGraph::input(const std::string& name, OnnxType type, const std::vector<OnnxSize>& sizes) {
  inputs_ += ProtobufMessage().bytes(11, onnx_value_info(name, type, sizes)).done();
  input_names_.push_back(name);
  return name;
}

void OnnxGraph::output(const OnnxValue& value, const std::string& name, OnnxType type,
                       const std::vector<OnnxSize>& sizes) {
  const std::string identity =
      ProtobufMessage().bytes(1, value).bytes(2, name).bytes(3, name).bytes(4, "Identity").done();
  nodes_ += ProtobufMessage().bytes(1, identity).done();
  outputs_ += ProtobufMessage().bytes(12, onnx_value_info(name, type, sizes)).done();
  output_names_.push_back(name);
}

OnnxValue OnnxGraph::tensor(const std::string& name, const at::Tensor& values) {
  tensors_.try_emplace(name, values.detach().contiguous());
  return name;
}

OnnxValue OnnxGraph::number(float value) {
  return tensor(fmt::format("number {}", value), at::scalar_tensor(value, at::kFloat));
}

OnnxValue OnnxGraph::whole(int64_t value) {
  return tensor(fmt::format("whole {}", value), at::scalar_tensor(value, at::kLong));
}

OnnxValue OnnxGraph::wholes(const std::vector<int64_t>& values) {
  return tensor(fmt::format("wholes {}", fmt::join(values, " ")),
                at::tensor(at::ArrayRef<int64_t>(values), at::kLong));
}

OnnxValue OnnxGraph::node(const std::string& operation, const std::vector<OnnxValue>& inputs,
                          const OnnxAttributes& attributes) {
  OnnxValue result = fmt::format("{}/{}_{}", scope_, operation, node_count_++);
  ProtobufMessage message;
  for (const OnnxValue& input : inputs) message.bytes(1, input);
  message.bytes(2, result).bytes(3, result).bytes(4, operation);
  for (const auto& [name, value] : attributes) message.bytes(5, onnx_attribute(name, value));
  nodes_ += ProtobufMessage().bytes(1, message.done()).done();
  return result;
}

void OnnxGraph::write(const std::string& path) const {
  const std::string start = nodes_ + ProtobufMessage().bytes(2, name_).done();
  const std::string end = inputs_ + outputs_;
  size_t graph_bytes = start.size() + end.size();
  for (const auto& [name, tensor] : tensors_)
    graph_bytes += onnx_tensor_start(name, tensor).size() + tensor.nbytes();
  ProtobufMessage model;
  model.whole(1, kFormatVersion).bytes(2, "synthesizer").bytes(3, version());
  model.bytes(8, ProtobufMessage().whole(2, kOperatorSet).done()).length(7, graph_bytes);
  const size_t bytes = model.done().size() + graph_bytes;
  if (bytes > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    invalid(fmt::format("{} would have {:.1f} GB, and an ONNX file can have 2 GB: this run is too large",
                        std::filesystem::path(path).filename().string(), static_cast<double>(bytes) / 1e9));
  }
  AtomicFile file(path);
  file.write(model.done());
  file.write(start);
  for (const auto& [name, tensor] : tensors_) {
    file.write(onnx_tensor_start(name, tensor));
    file.write(tensor.const_data_ptr(), tensor.nbytes());
  }
  file.write(end);
  file.commit();
}

}  // namespace synthesizer
