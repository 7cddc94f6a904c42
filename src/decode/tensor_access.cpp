#include "decode/tensor_access.h"

#include <ATen/ATen.h>

namespace synthesizer {
namespace {

template <typename T>
std::vector<T> values_of(const at::Tensor& tensor, at::ScalarType type) {
  const auto plain = tensor.detach().to(at::kCPU, type).contiguous();
  const T* data = plain.const_data_ptr<T>();
  return std::vector<T>(data, data + plain.numel());
}

}  // namespace

std::vector<float> float_values(const at::Tensor& values) {
  return values_of<float>(values, at::kFloat);
}

std::vector<int64_t> integer_values(const at::Tensor& values) {
  return values_of<int64_t>(values, at::kLong);
}

at::Tensor tensor_of(const std::vector<int64_t>& values) {
  return at::tensor(at::ArrayRef<int64_t>(values), at::kLong);
}

void select_rows(StepModel& model, const std::vector<int64_t>& rows) {
  bool moved = static_cast<int64_t>(rows.size()) != model.rows();
  for (size_t n = 0; n < rows.size(); ++n) moved |= rows[n] != static_cast<int64_t>(n);
  if (moved && !rows.empty()) model.reorder(tensor_of(rows));
}

}  // namespace synthesizer
