#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "attention/logits.h"

namespace synthesizer {

/// Where the rows of one decoding step stand when they began at different times: sample b reads slot
/// `slots[b]` of the keys and values, of which it sees the first `columns[b]`.
struct SlotView {
  std::span<const int64_t> slots, columns;
};

/// attend() for one row per sample, each with its own number of columns. `logits` gives query, row, column,
/// left and right as attend() takes them, with L = 1 and at least as many columns as any sample sees; its key
/// and its table are not used. keys S×H×C×F (undefined without a query) and values S×H×C×K: one entry per
/// slot. `table` H×R×M, or undefined: sample b takes its row `table_rows[b]`.
///
/// Returns B×1×(H·K), the heads joined. Each row has exactly the bits that attend() gives for it alone, so a
/// result depends neither on the other rows nor on their number. float32 on the CPU; no gradients.
at::Tensor attend_slots(const Logits& logits, const at::Tensor& keys, const at::Tensor& values,
                        const at::Tensor& table, std::span<const int64_t> table_rows, const SlotView& view);

/// attend_with_global_weights() in the same setting: sample b uses row `rows[b]` of the weights, H×N×N.
at::Tensor attend_slots_with_weights(const at::Tensor& weights, std::span<const int64_t> rows,
                                     const at::Tensor& values, const SlotView& view);

}  // namespace synthesizer
