#include "inspect/extend_attention.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <torch/nn/module.h>

#include <algorithm>

#include "attention/mixture.h"
#include "attention/spec.h"
#include "base/error.h"
#include "base/parameter_names.h"
#include "inspect/copy_tensors.h"
#include "model/layers_of.h"
#include "task/initial_weights.h"

namespace synthesizer {
namespace {

/// A member of a mixture, and one factor of its logits: they are linear in these parameters together.
struct MemberFactor {
  std::string_view member;
  std::vector<std::string> parameters;
};

const MemberFactor& factor_of(const Variant& variant) {
  static const std::vector<MemberFactor> all = {{"V", {"query.weight", "query.bias"}},
                                                {"D", {"out.weight", "out.bias"}},
                                                {"R", {"table"}},
                                                {"FR", {"right"}},
                                                {"FD", {"a.weight", "a.bias"}}};
  const auto found = std::find_if(all.begin(), all.end(), [&](const MemberFactor& factor) {
    return factor.member == variant.abbreviation;
  });
  if (found != all.end()) return *found;
  invalid(fmt::format("--attention: {} cannot be added to a model or extended, because it is not trained",
                      variant.abbreviation));
}

/// Multiplies the member's logits in this layer by a number.
void scale_member(const AttentionImpl& attention, const Variant& member, double by) {
  const Weights weights(attention.mixer().parameters(), attention.layer_weights(),
                        fmt::format("{}{}.", kLogitsPrefix, member.abbreviation));
  for (const std::string& name : factor_of(member).parameters) {
    if (at::Tensor tensor = weights.find(name); tensor.defined()) tensor.mul_(by);
  }
}

std::string extended(const std::string& spec, const std::string& to) {
  const auto members = parse_spec(to);
  for (const Variant* member : members) factor_of(*member);
  const std::string now = short_spec(std::string_view(spec));
  const bool one_of_them = std::any_of(members.begin(), members.end(),
                                       [&](const Variant* member) { return member->abbreviation == now; });
  if (members.size() < 2 || !one_of_them) {
    invalid(fmt::format("--attention is {}: a layer has {}, which can become a mixture with {} in it", to,
                        now, now));
  }
  return short_spec(members);
}

}  // namespace

std::unique_ptr<Task> extend_attention(Task& task, const std::string& spec, std::optional<int64_t> rank) {
  c10::NoGradGuard no_grad;
  Recipe recipe = task.recipe();
  for (auto* specs :
       {&recipe.model.attention, &recipe.model.encoder_attention, &recipe.model.decoder_attention}) {
    for (std::string& one : *specs) one = extended(one, spec);
  }
  if (rank) recipe.model.attention_options.set("rank", *rank);
  recipe.train.init_from.clear();
  check(recipe);
  auto made = initial_task(recipe, task.tokenizers());
  copy_tensors_of_equal_name(task.model(), made->model());
  const auto before = layers_of(task.model()), after = layers_of(made->model());
  for (size_t n = 0; n < after.size(); ++n) {
    const AttentionImpl& attention = *after[n].second->attention();
    const std::string had = short_spec(std::string_view(before[n].second->attention()->options().attention));
    const auto members = parse_spec(attention.options().attention);
    const bool shares =
        Weights(attention.mixer().parameters(), attention.layer_weights()).find(kMixtureName).defined();
    for (const Variant* member : members) {
      const bool old = member->abbreviation == had;
      scale_member(attention, *member, old ? (shares ? static_cast<double>(members.size()) : 1) : 0);
    }
  }
  made->model().eval();
  return made;
}

}  // namespace synthesizer
