#include "task/batch_tensors.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "decode/tensor_access.h"

namespace synthesizer {
FieldTensors tensors_of(const Field& field) {
  const bool padded = std::any_of(field.lengths.begin(), field.lengths.end(),
                                  [&](int64_t length) { return length != field.columns; });
  return {tensor_of(field.ids).view({field.rows, field.columns}),
          padded ? tensor_of(field.lengths) : at::Tensor()};
}

Shifted shifted(const Field& field) {
  const auto [tokens, lengths] = tensors_of(field);
  const int64_t length = field.columns - 1;
  return {{tokens.narrow(1, 0, length).contiguous(), lengths.defined() ? lengths - 1 : lengths},
          tokens.narrow(1, 1, length)};
}

at::Tensor real_rows(const at::Tensor& values, const at::Tensor& lengths) {
  auto flat = values.flatten(0, 1);
  if (!lengths.defined()) return flat;
  const auto real = at::arange(values.size(1), at::kLong).lt(lengths.unsqueeze(1));  // B×L
  return flat.index_select(0, real.flatten().nonzero().squeeze(1));
}

}  // namespace synthesizer
