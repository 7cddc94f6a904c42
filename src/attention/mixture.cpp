#include "attention/mixture.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "attention/spec.h"

namespace synthesizer {
namespace {

at::Tensor added(const at::Tensor& sum, const at::Tensor& term) {
  return sum.defined() ? sum + term : term;
}

/// Two products of features are one product of the features side by side.
at::Tensor joined(const at::Tensor& features, const at::Tensor& more) {
  return features.defined() ? at::cat({features, more}, -1) : more;
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
    sum.row = joined(sum.row, scaled(part.row));
    sum.column = joined(sum.column, part.column);
  }
  if (part.table.defined()) sum.table = added(sum.table, scaled(part.table));
  if (part.left.defined()) {
    if (sum.left.defined()) invalid("a mixture can have one member made of outer products, not two");
    sum.left = scaled(part.left);
    sum.right = part.right;
    sum.tile = part.tile;
  }
}

}  // namespace

Mixture::Mixture(const AttentionOptions& options) : heads_(options.heads) {
  for (const Variant* variant : parse_spec(options.attention)) {
    members_.push_back({variant, variant->make(options)});
  }
  if (members_.size() < 2) return;
  const auto weights = options.options.text("weights", "learned");
  if (weights == "learned") {
    kind_ = Kind::learned;
  } else if (weights == "learned-per-head") {
    kind_ = Kind::learned_per_head;
  } else if (weights == "sum") {
    kind_ = Kind::sum;
  } else {
    invalid(
        fmt::format("option 'weights' is '{}': it must be 'learned', 'learned-per-head' or 'sum'", weights));
  }
}

std::vector<OptionInfo> Mixture::options() {
  return {{"weights", "learned, learned-per-head or sum",
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
  if (kind_ == Kind::learned) all.push_back({"mixture", Role::logits, {n}, Init::zero()});
  if (kind_ == Kind::learned_per_head) all.push_back({"mixture", Role::logits, {heads_, n}, Init::zero()});
  return all;
}

at::Tensor mixture_shares(const at::Tensor& learned) {
  return at::softmax(learned, -1);
}

Logits Mixture::logits(const Weights& weights, const at::Tensor& x, const Window& window) const {
  at::Tensor alpha;  // n, or H×n
  if (kind_ == Kind::learned || kind_ == Kind::learned_per_head) {
    alpha = mixture_shares(weights["mixture"]);
  }
  Logits sum;
  for (size_t n = 0; n < members_.size(); ++n) {
    const Member& member = members_[n];
    auto own = weights.below(member.variant->abbreviation + ".");
    accumulate(sum, member.synthesis->logits(own, x, window),
               alpha.defined() ? alpha.select(-1, static_cast<int64_t>(n)) : at::Tensor());
  }
  return sum;
}

void Mixture::prepare_growth(AttentionOptions& larger) const {
  for (const Member& member : members_) member.synthesis->prepare_growth(larger);
}

int64_t Mixture::macs(int64_t length) const {
  int64_t sum = 0;
  for (const Member& member : members_) sum += member.synthesis->macs(length);
  return sum;
}

bool Mixture::global() const {
  return std::all_of(members_.begin(), members_.end(),
                     [](const Member& member) { return member.variant->global(); });
}

}  // namespace synthesizer
