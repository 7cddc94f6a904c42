#pragma once

#include <torch/nn/module.h>

#include <vector>

#include "attention/logits.h"
#include "attention/slots.h"
#include "model/linear.h"
#include "model/options.h"

namespace synthesizer {

/// Keys and values of the encoder's output for one decoder layer, computed once per sentence and shared by
/// its beams.
struct Memory {
  at::Tensor key, value;  ///< B×H×M×K
  at::Tensor lengths;     ///< B, int64, or undefined
  int64_t share = 1;      ///< so many rows of the decoder, side by side, look at each of them

  /// As State::reorder, by rows of the decoder. Copies nothing while every sentence keeps its beams.
  void reorder(const at::Tensor& indices);
};

class CrossAttention;

/// The same for texts that begin and end at different times: what each slot of a decoder looks at.
class MemorySlots {
 public:
  MemorySlots(const CrossAttention& owner, int64_t slots)
      : owner_(&owner), lengths_(static_cast<size_t>(slots), 0) {}

  /// Slot slots[n] looks at the first lengths[n] rows of encoded[n], B×M×D, from now on.
  void put(const std::vector<int64_t>& slots, const at::Tensor& encoded, const std::vector<int64_t>& lengths);

  at::Tensor keys() const { return key_.transpose(1, 2); }  ///< S×H×capacity×K
  at::Tensor values() const { return value_.transpose(1, 2); }
  int64_t length(int64_t slot) const { return lengths_[static_cast<size_t>(slot)]; }

 private:
  const CrossAttention* owner_;
  std::vector<int64_t> lengths_;
  at::Tensor key_, value_;  ///< S×capacity×H×K
};

/// Attention from decoder to encoder. It stays dot-product: the paper synthesizes self-attention only.
class CrossAttention : public torch::nn::Module {
 public:
  explicit CrossAttention(const ModelOptions& options);

  Memory project_memory(const at::Tensor& encoded, const at::Tensor& lengths) const;  ///< encoded B×M×D
  /// x B×L×D, or N×D where its rows are packed; the result as x.
  at::Tensor forward(const at::Tensor& x, const Memory& memory, const PackedRows* rows = nullptr) const;
  /// One row of x (B×D) per slot: the bits of forward() for that row alone.
  at::Tensor step_slots(const at::Tensor& x, const MemorySlots& memory, const SlotRows& rows) const;
  /// The attention weights, B×H×L×M. For inspection.
  at::Tensor weights(const at::Tensor& x, const Memory& memory) const;

 private:
  Logits logits(const at::Tensor& x, const Memory& memory, const PackedRows* rows = nullptr) const;

  int64_t heads_;
  double scale_, dropout_;
  std::shared_ptr<Linear> query_, key_, value_, output_;
};

}  // namespace synthesizer
