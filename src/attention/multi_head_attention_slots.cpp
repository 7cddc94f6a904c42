// Decoding of texts that begin and end at different times; see SlotCache.

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "attention/heads.h"
#include "attention/kernel/attend_slots.h"
#include "attention/multi_head_attention.h"
#include "attention/projection.h"

namespace synthesizer {

at::Tensor MultiHeadAttention::row_tables(const LayerWeights& all, bool biased) const {
  if (all.precomputed_weights.defined() && !biased) return {};  // the weights themselves are there
  if (!mixture_->any_global()) return {};
  const int64_t n = options().max_length;
  const Weights weights(parameters(), all, std::string(kLogitsPrefix));
  const auto token = at::zeros({1, 1, options().width}, at::kFloat);
  // Row by row, as decoding alone asks for them: a product of whole matrices may round otherwise.
  auto tables = at::zeros({options().heads, n, n}, at::kFloat);
  for (int64_t t = 0; t < n; ++t) {
    const auto row = scaled_table(mixture_->logits(weights, token, {t, 1, t + 1}));
    tables.select(1, t).narrow(1, 0, t + 1).copy_(row.select(1, 0));
  }
  return tables;
}

at::Tensor MultiHeadAttention::step_slots_impl(const LayerWeights& all, const at::Tensor& x, SlotCache& cache,
                                               const SlotRows& rows, const at::Tensor& bias) const {
  const Weights weights(parameters(), all);
  const auto token = x.unsqueeze(1);                                                  // B×1×D
  const auto value = split_heads(project(weights, "value", token), options().heads);  // B×H×1×K
  std::vector<int64_t> columns = rows.positions;
  for (int64_t& count : columns) ++count;
  const SlotView view{rows.slots, columns};
  at::Tensor y;
  if (all.precomputed_weights.defined() && !bias.defined()) {
    cache.put(rows, value, {});
    y = attend_slots_with_weights(all.precomputed_weights, rows.positions, cache.values(), view);
  } else {
    const auto logits = mixture_->logits(weights.with_prefix(kLogitsPrefix), token, {0, 1, rows.longest()});
    at::Tensor table = cache.tables.defined() ? cache.tables : scaled_table(logits);  // H×N×N, or H×1×M
    std::vector<int64_t> table_rows(columns.size(), 0);
    if (cache.tables.defined()) table_rows = rows.positions;
    if (bias.defined()) {
      const auto positions = rows.position_tensor();
      auto of_rows = [&](const at::Tensor& t) {
        return t.index_select(1, positions).narrow(2, 0, rows.longest());
      };
      const auto own = of_rows(bias);  // H×B×M
      if (table.defined()) {
        table = (cache.tables.defined() ? of_rows(table) : table.narrow(2, 0, rows.longest())) + own;
      } else {
        table = own;
      }
      std::iota(table_rows.begin(), table_rows.end(), 0);
    }
    cache.put(rows, value, logits.key);
    y = attend_slots(logits, cache.keys(), cache.values(), table, table_rows, view);
  }
  return project(weights, "output", y).squeeze(1);
}

}  // namespace synthesizer
