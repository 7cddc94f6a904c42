#include "model/cross_attention.h"

#include <ATen/ATen.h>

#include <cmath>

#include "attention/heads.h"
#include "attention/kernel/attend.h"

namespace synthesizer {

void Memory::reorder(const at::Tensor& indices) {
  for (at::Tensor* t : {&key, &value, &lengths}) {
    if (t->defined()) *t = t->index_select(0, indices);
  }
}

CrossAttention::CrossAttention(const ModelOptions& o)
    : heads_(o.heads),
      scale_(1 / std::sqrt(static_cast<double>(o.width / o.heads))),
      dropout_(o.attention_dropout) {
  auto linear = [&](const char* name) {
    return register_module(name, std::make_shared<Linear>(o.width, o.width, o.bias));
  };
  query_ = linear("query");
  key_ = linear("key");
  value_ = linear("value");
  output_ = linear("output");
}

Memory CrossAttention::remember(const at::Tensor& encoded, const at::Tensor& lengths) const {
  return {split_heads(key_->forward(encoded), heads_), split_heads(value_->forward(encoded), heads_),
          lengths};
}

Logits CrossAttention::logits(const at::Tensor& x, const Memory& memory) const {
  Logits logits;
  logits.query = split_heads(query_->forward(x), heads_);
  logits.key = memory.key;
  logits.scale = scale_;
  return logits;
}

at::Tensor CrossAttention::forward(const at::Tensor& x, const Memory& memory) const {
  const Dropout dropout = is_training() && dropout_ > 0 ? Dropout{dropout_, draw_seed()} : Dropout{};
  return output_->forward(
      join_heads(attend(logits(x, memory), {false, {}, memory.lengths}, memory.value, dropout)));
}

at::Tensor CrossAttention::weights(const at::Tensor& x, const Memory& memory) const {
  return attention_weights(logits(x, memory), {false, {}, memory.lengths});
}

}  // namespace synthesizer
