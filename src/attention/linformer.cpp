#include "attention/linformer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/heads.h"
#include "attention/kernel/attend.h"
#include "attention/padding.h"
#include "attention/projection.h"

namespace synthesizer {
namespace {

int64_t rank_of(const AttentionOptions& options) {
  const int64_t rank = options.options.integer("rank", std::min<int64_t>(64, options.max_length));
  if (rank < 1 || rank > options.max_length) {
    invalid(fmt::format("option 'rank' is {}: it must be from 1 to max_length {}", rank, options.max_length));
  }
  return rank;
}

}  // namespace

std::vector<OptionInfo> Linformer::accepted_options() {
  return {{"rank", "a whole number from 1 to max_length",
           "k, how many mixtures of positions there are (default 64, or max_length if that is less)"},
          {"share_heads", "true or false", "the same projections for all heads (default true)"},
          {"share_kv", "true or false", "the same projections for keys and values (default false)"}};
}

Linformer::Linformer(AttentionOptions given)
    : Mixer(std::move(given)),
      rank_(rank_of(options())),
      share_heads_(options().options.flag("share_heads", true)),
      share_kv_(options().options.flag("share_kv", false)) {
  const AttentionOptions& o = options();
  declare(projection("query", o.width, o.width, /*bias=*/false));
  declare(projection("key", o.width, o.width, /*bias=*/false));
  declare(projection("value", o.width, o.width, o.bias));
  declare(projection("output", o.width, o.width, o.bias));
  std::vector<int64_t> shape = {rank_, o.max_length};
  if (!share_heads_) shape.insert(shape.begin(), o.heads);
  auto along = [&](const char* name) {
    declare({{name, Role::matrix, shape, Init::xavier(o.max_length, rank_)}});
  };
  along("project.key");
  if (!share_kv_) along("project.value");
}

at::Tensor Linformer::along_length(const at::Tensor& matrix, const at::Tensor& x) const {
  const auto cut = narrowed(matrix, -1, 0, x.sym_size(1));  // k×L, or H×k×L
  if (!share_heads_) return at::matmul(cut, split_heads(x, options().heads));
  const auto mixed =
      at::bmm(cut.expand_symint({x.sym_size(0), rank_, x.sym_size(1)}), x);  // B×k×D, all heads at once
  return split_heads(mixed, options().heads);
}

at::Tensor Linformer::forward_impl(const LayerWeights& all, const at::Tensor& x, const at::Tensor& lengths,
                                   bool training, const AddedLogits&) const {
  const Weights weights(parameters(), all);
  const AttentionOptions& o = options();
  auto mixed = [&](const char* name, const char* matrix) {
    return along_length(weights[matrix], without_padding(project(weights, name, x), lengths));
  };
  Logits logits;
  logits.query = split_heads(project(weights, "query", x), o.heads);  // B×H×L×K
  logits.key = mixed("key", "project.key");                           // B×H×k×K
  logits.scale = 1 / std::sqrt(static_cast<double>(o.head_width()));
  const auto value = mixed("value", share_kv_ ? "project.key" : "project.value");
  const auto y =
      attend(logits, {false, lengths, {}}, value, draw_dropout(training ? o.dropout : 0, x));  // B×H×L×K
  return project(weights, "output", join_heads(y));
}

int64_t Linformer::macs(int64_t length) const {
  const int64_t d = options().width;
  return length * d *
         (4 * d + 4 * rank_);  // four projections; along the length, and against the result, twice
}

void Linformer::prepare_growth(AttentionOptions& larger) const {
  larger.options.set("rank", rank_);  // its default follows max_length
}

}  // namespace synthesizer
