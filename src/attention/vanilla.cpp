#include "attention/vanilla.h"

#include <ATen/ATen.h>

#include <cmath>

#include "attention/heads.h"
#include "attention/projection.h"

namespace synthesizer {

std::vector<OptionInfo> Vanilla::options() {
  return {{"query_bias", "true or false", "a bias of the queries, as BERT, GPT-2 and Marian have it"}};
}

std::vector<Parameter> Vanilla::parameters() const {
  auto all = projection("query", width_, width_, query_bias_);
  all.push_back(projection("key", width_, width_, false).front());
  return all;
}

Logits Vanilla::logits(const Weights& weights, const at::Tensor& x, const RowRange& range) const {
  Logits logits;
  logits.query = split_heads(project(weights, "query", x), heads_, range.packed);  // B×H×L×K
  logits.key = split_heads(project(weights, "key", x), heads_, range.packed);      // B×H×L×K
  const int64_t head_width = width_ / heads_;
  logits.scale = 1.0 / std::sqrt(static_cast<double>(head_width));
  return logits;
}

int64_t Vanilla::macs(int64_t length) const {
  return 2 * length * width_ * width_ + length * length * width_;
}

}  // namespace synthesizer
