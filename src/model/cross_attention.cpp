#include "model/cross_attention.h"

#include <ATen/ATen.h>

#include <cmath>
#include <span>
#include <vector>

#include "attention/heads.h"
#include "attention/kernel/attend.h"

namespace synthesizer {

void Memory::reorder(const at::Tensor& indices) {
  const auto flat = indices.cpu().contiguous();
  std::vector<int64_t> wanted;  // which of ours every row will look at
  for (const int64_t index : std::span(flat.const_data_ptr<int64_t>(), static_cast<size_t>(flat.numel())))
    wanted.push_back(index / share);
  // Rows that look at the same one lie side by side; as many for each, or they get one each.
  size_t run = 1;
  while (run < wanted.size() && wanted[run] == wanted[0]) ++run;
  auto breaks_a_run = [&](size_t n) { return n % run != 0 && wanted[n] != wanted[n - 1]; };
  bool even = wanted.size() % run == 0;
  for (size_t n = 0; even && n < wanted.size(); ++n) even = !breaks_a_run(n);
  if (!even) run = 1;
  share = static_cast<int64_t>(run);
  std::vector<int64_t> kept;
  bool moved = wanted.size() != run * static_cast<size_t>(key.size(0));
  for (size_t n = 0; n < wanted.size(); n += run) {
    moved |= wanted[n] != static_cast<int64_t>(kept.size());
    kept.push_back(wanted[n]);
  }
  if (!moved) return;
  const auto rows = at::tensor(kept, at::kLong).to(key.device());
  for (at::Tensor* t : {&key, &value, &lengths}) {
    if (t->defined()) *t = t->index_select(0, rows);
  }
}

CrossAttention::CrossAttention(const ModelOptions& o)
    : heads_(o.heads),
      scale_(1 / std::sqrt(static_cast<double>(o.width) / static_cast<double>(o.heads))),
      dropout_(o.attention_dropout) {
  auto linear = [&](const char* name) {
    return register_module(name, std::make_shared<Linear>(o.width, o.width, o.bias));
  };
  query_ = linear("query");
  key_ = linear("key");
  value_ = linear("value");
  output_ = linear("output");
}

Memory CrossAttention::project_memory(const at::Tensor& encoded, const at::Tensor& lengths) const {
  const auto rows = rows_worth_packing(lengths, encoded.size(1));
  const auto x = rows ? rows->pack(encoded) : encoded;
  return {split_heads(key_->forward(x), heads_, rows.get()),
          split_heads(value_->forward(x), heads_, rows.get()), lengths};
}

Logits CrossAttention::logits(const at::Tensor& x, const Memory& memory, const PackedRows* rows) const {
  Logits logits;
  logits.query = split_heads(query_->forward(x), heads_, rows);
  logits.key = memory.key;
  logits.scale = scale_;
  return logits;
}

at::Tensor CrossAttention::forward(const at::Tensor& x, const Memory& memory, const PackedRows* rows) const {
  const Dropout dropout = draw_dropout(is_training() ? dropout_ : 0, x);
  const Mask mask{false, rows ? rows->lengths() : at::Tensor(), memory.lengths};
  const auto y = join_heads(attend(logits(x, memory, rows), mask, memory.value, dropout));
  return output_->forward(rows ? rows->pack(y) : y);
}

at::Tensor CrossAttention::weights(const at::Tensor& x, const Memory& memory) const {
  return attention_weights(logits(x, memory), {false, {}, memory.lengths});
}

}  // namespace synthesizer
