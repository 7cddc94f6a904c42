#include "attention/mixture.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "attention/option_choice.h"
#include "attention/spec.h"

namespace synthesizer {

static Choices choices(MixtureWeights) {
  static constexpr ChoiceName names[] = {{"learned"}, {"learned-per-head"}, {"sum"}};
  return names;
}

namespace {

/// Two products of features are one product of the features side by side.
at::Tensor joined(const at::Tensor& features, const at::Tensor& more) {
  return features.defined() ? at::cat({features, more}, -1) : more;
}

/// Features B×H×L×G of rows, which may be H×L×G, the same for all samples, beside others that are not.
at::Tensor joined_rows(const at::Tensor& features, const at::Tensor& more) {
  if (!features.defined() || features.dim() == more.dim()) return joined(features, more);
  auto for_each_sample = [](const at::Tensor& own, const at::Tensor& shared) {
    return shared.unsqueeze(0).expand_symint({own.sym_size(0), -1, -1, -1});
  };
  return features.dim() == 3 ? joined(for_each_sample(more, features), more)
                             : joined(features, for_each_sample(features, more));
}

/// Adds weight · part to the sum. An undefined weight is 1.
void accumulate(Logits& sum, const Logits& part, const at::Tensor& weight) {
  // H (or a scalar) beside B×H×L×F, and beside H×L×M.
  auto scaled = [&](const at::Tensor& t) { return weight.defined() ? t * weight.view({-1, 1, 1}) : t; };
  if (part.query.defined()) {
    // With one product of this kind its scale stays a number; a second one takes its scale along.
    const bool first = !sum.query.defined();
    if (first) sum.scale = part.scale;
    auto query = scaled(part.query);
    sum.query = joined(sum.query, first ? query : query * (part.scale / sum.scale));
    sum.key = joined(sum.key, part.key);
  }
  if (part.row.defined()) {
    sum.row = joined_rows(sum.row, scaled(part.row));
    sum.column = joined(sum.column, part.column);
  }
  if (part.table.defined()) add_table(sum, part.table, weight);
  if (part.left.defined()) {
    if (sum.left.defined()) invalid("a mixture can have one member made of outer products, not two");
    sum.left = scaled(part.left);
    sum.right = part.right;
    sum.tile = part.tile;
  }
}

}  // namespace

at::Tensor scaled_table(const Logits& logits) {
  return logits.table_scale.defined() ? logits.table * logits.table_scale.view({-1, 1, 1}) : logits.table;
}

at::Tensor global_logits(const Logits& logits) {
  auto table = scaled_table(logits);
  if (!logits.row.defined()) return table;
  const auto product = at::matmul(logits.row, logits.column.transpose(1, 2));
  return table.defined() ? table + product : product;
}

void add_table(Logits& logits, const at::Tensor& table, const at::Tensor& weight) {
  if (!logits.table.defined()) {
    logits.table = table;
    logits.table_scale = weight.defined() ? weight.view({-1}) : weight;
    return;
  }
  logits.table = scaled_table(logits) + (weight.defined() ? table * weight.view({-1, 1, 1}) : table);
  logits.table_scale = at::Tensor();
}

Mixture::Mixture(const AttentionOptions& options) : heads_(options.heads) {
  for (const Variant* variant : parse_spec(options.attention)) {
    members_.push_back({variant, variant->make(options)});
  }
  if (members_.size() < 2) return;
  kind_ = choice_option(options.options, "weights", MixtureWeights::learned);
}

std::vector<OptionInfo> Mixture::options() {
  return {{"weights", list_of(choices(MixtureWeights{})),
           "how members are weighted: softmax of learned numbers (default), or all by 1"}};
}

std::vector<Parameter> Mixture::parameters() const {
  std::vector<Parameter> all;
  for (const Member& member : members_) {
    for (Parameter parameter : member.synthesis->parameters()) {
      parameter.name = member.variant->abbreviation + "." + parameter.name;
      all.push_back(std::move(parameter));
    }
  }
  const auto n = static_cast<int64_t>(members_.size());
  if (kind_ == MixtureWeights::learned) all.push_back({"mixture", Role::logits, {n}, Init::zero()});
  if (kind_ == MixtureWeights::learned_per_head)
    all.push_back({"mixture", Role::logits, {heads_, n}, Init::zero()});
  return all;
}

at::Tensor mixture_shares(const at::Tensor& learned) {
  return at::softmax(learned, -1);
}

Logits Mixture::logits(const Weights& weights, const at::Tensor& x, const RowRange& range) const {
  at::Tensor alpha;  // n, or H×n
  if (kind_ == MixtureWeights::learned || kind_ == MixtureWeights::learned_per_head) {
    alpha = mixture_shares(weights["mixture"]);
  }
  Logits sum;
  for (size_t n = 0; n < members_.size(); ++n) {
    const Member& member = members_[n];
    auto own = weights.with_prefix(member.variant->abbreviation + ".");
    accumulate(sum, member.synthesis->logits(own, x, range),
               alpha.defined() ? alpha.select(-1, static_cast<int64_t>(n)) : at::Tensor());
  }
  return sum;
}

void Mixture::prepare_growth(AttentionOptions& larger) const {
  for (const Member& member : members_) member.synthesis->prepare_growth(larger);
}

bool Mixture::rows_are_independent() const {
  return std::all_of(members_.begin(), members_.end(),
                     [](const Member& member) { return member.synthesis->rows_are_independent(); });
}

int64_t Mixture::macs(int64_t length) const {
  int64_t sum = 0;
  for (const Member& member : members_) sum += member.synthesis->macs(length);
  return sum;
}

bool Mixture::any_global() const {
  return std::any_of(members_.begin(), members_.end(),
                     [](const Member& member) { return member.variant->global(); });
}

bool Mixture::global() const {
  return std::all_of(members_.begin(), members_.end(),
                     [](const Member& member) { return member.variant->global(); });
}

}  // namespace synthesizer
