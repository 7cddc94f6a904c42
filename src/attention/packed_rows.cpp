#include "attention/packed_rows.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstring>
#include <vector>

namespace synthesizer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The share of a batch that has to be padding for its rows to be worth packing.
constexpr double kLeastPadding = 0.05;

/// Where each sample's first row lies among the packed ones, and behind all of them N.
std::vector<int64_t> offsets_of(const at::Tensor& lengths) {
  const auto flat = lengths.contiguous();
  const auto* rows = flat.const_data_ptr<int64_t>();
  std::vector<int64_t> offsets = {0};
  for (int64_t b = 0; b < flat.numel(); ++b) offsets.push_back(offsets.back() + rows[b]);
  return offsets;
}

/// B×L×D to N×D, or back with zeros for padding.
at::Tensor copied(const at::Tensor& given, const at::Tensor& lengths, int64_t length, bool pack) {
  const auto from = given.contiguous();
  const auto offsets = offsets_of(lengths);
  const int64_t batch = lengths.numel(), width = from.size(-1);
  const auto row_bytes = static_cast<size_t>(width) * from.element_size();
  auto to = pack ? at::empty({offsets.back(), width}, from.options())
                 : at::empty({batch, length, width}, from.options());
  const auto* source = static_cast<const char*>(from.const_data_ptr());
  auto* target = static_cast<char*>(to.mutable_data_ptr());
  at::parallel_for(0, batch, 1, [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b) {
      const auto n = static_cast<size_t>(b), rows = static_cast<size_t>(offsets[n + 1] - offsets[n]);
      const size_t packed = static_cast<size_t>(offsets[n]) * row_bytes,
                   padded = static_cast<size_t>(b * length) * row_bytes;
      if (rows > 0)
        std::memcpy(target + (pack ? packed : padded), source + (pack ? padded : packed), rows * row_bytes);
      if (!pack) {
        const size_t rest = (static_cast<size_t>(length) - rows) * row_bytes;
        if (rest > 0) std::memset(target + padded + rows * row_bytes, 0, rest);
      }
    }
  });
  return to;
}

class CopyRows : public torch::autograd::Function<CopyRows> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& given, const at::Tensor& lengths,
                            int64_t length, bool pack) {
    context->save_for_backward({lengths});
    context->saved_data["length"] = length;
    context->saved_data["pack"] = pack;
    return copied(given, lengths, length, pack);
  }
  static variable_list backward(AutogradContext* context, variable_list slopes) {
    const auto lengths = context->get_saved_variables()[0];
    const int64_t length = context->saved_data["length"].toInt();
    return {copied(slopes[0], lengths, length, !context->saved_data["pack"].toBool()), {}, {}, {}};
  }
};

}  // namespace

PackedRows::PackedRows(at::Tensor lengths, int64_t length, Bits bits)
    : lengths_(std::move(lengths)), length_(length), offsets_(offsets_of(lengths_)), bits_(bits) {}

at::Tensor PackedRows::pack(const at::Tensor& padded) const {
  return CopyRows::apply(padded, lengths_, length_, true);
}

at::Tensor PackedRows::unpack(const at::Tensor& packed) const {
  return CopyRows::apply(packed, lengths_, length_, false);
}

at::Tensor PackedRows::for_each_length(const at::Tensor& packed,
                                       const std::function<at::Tensor(const at::Tensor&)>& function) const {
  auto result = at::empty_like(packed);
  for (size_t first = 0, last = 0; first + 1 < offsets_.size(); first = last) {
    const int64_t rows = offsets_[first + 1] - offsets_[first];
    while (last + 1 < offsets_.size() && offsets_[last + 1] - offsets_[last] == rows) ++last;
    if (rows == 0) continue;
    const int64_t begin = offsets_[first], all = offsets_[last] - begin;
    const auto own = packed.narrow(0, begin, all).view({all / rows, rows, packed.size(1)});
    result.narrow(0, begin, all).copy_(function(own).reshape({all, packed.size(1)}));
  }
  return result;
}

PackedRowsPtr rows_worth_packing(const at::Tensor& lengths, int64_t length) {
  if (!lengths.defined() || !c10::GradMode::is_enabled() || !lengths.is_cpu()) return nullptr;
  auto rows = std::make_shared<const PackedRows>(lengths, length);
  const auto all = static_cast<double>(lengths.numel() * length);
  const bool worth = static_cast<double>(rows->count()) < (1 - kLeastPadding) * all;
  return worth ? rows : nullptr;
}

}  // namespace synthesizer
