#include "inspect/tables.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/baselines.h"
#include "attention/mixture.h"
#include "attention/spec.h"
#include "base/parameter_names.h"
#include "inspect/member_table.h"
#include "model/layers_of.h"

namespace synthesizer {
namespace {

std::vector<double> numbers(const at::Tensor& tensor) {
  const auto flat = tensor.to(at::kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

std::vector<float> corner(const at::Tensor& table, int64_t shown) {
  const auto cut = table.narrow(0, 0, shown).narrow(1, 0, shown).to(at::kFloat).contiguous();
  return {cut.const_data_ptr<float>(), cut.const_data_ptr<float>() + cut.numel()};
}

TableHead head_of(const at::Tensor& end, const at::Tensor& start, bool causal, int64_t shown) {
  auto seen = [causal](const at::Tensor& table) {
    const auto exact = table.to(at::kDouble);
    return causal ? exact.tril() : exact;
  };
  TableHead head;
  head.spectrum.values = numbers(at::linalg_svdvals(seen(end)));
  head.end = corner(end, shown);
  if (!start.defined()) return head;
  head.start = corner(start, shown);
  const double before = seen(start).norm().item<double>();
  const double difference = (seen(end) - seen(start)).norm().item<double>();
  if (before > 0) head.moved = difference / before;
  const auto n = static_cast<double>(end.size(0));
  head.change = difference / std::sqrt(causal ? n * (n + 1) / 2 : n * n);
  return head;
}

}  // namespace

std::vector<const Variant*> global_members(const AttentionOptions& options) {
  std::vector<const Variant*> members;
  if (find_baseline(options.attention)) return members;
  for (const Variant* member : parse_spec(options.attention)) {
    if (member->global()) members.push_back(member);
  }
  return members;
}

at::Tensor member_table(const AttentionImpl& attention, const Variant& member) {
  const AttentionOptions& options = attention.options();
  const int64_t n = options.max_length;
  const Weights weights(attention.mixer().parameters(), attention.layer_weights(),
                        fmt::format("{}{}.", kLogitsPrefix, member.abbreviation));
  return global_logits(member.make(options)->logits(weights, {}, {0, n, n})).expand({options.heads, n, n});
}

std::vector<RandomTable> random_tables(torch::nn::Module& model, torch::nn::Module* start, int64_t shown) {
  c10::NoGradGuard no_grad;
  std::vector<RandomTable> tables;
  const auto layers = layers_of(model);
  const auto first = start ? layers_of(*start) : decltype(layers){};
  for (size_t l = 0; l < layers.size(); ++l) {
    const auto& [name, layer] = layers[l];
    const AttentionOptions& options = layer->attention()->options();
    for (const Variant* member : global_members(options)) {
      const auto end = member_table(*layer->attention(), *member);
      const auto begin = start ? member_table(*first[l].second->attention(), *member) : at::Tensor();
      RandomTable table{
          name, member->abbreviation, options.causal, options.max_length, std::min(shown, options.max_length),
          {}};
      for (int64_t h = 0; h < end.size(0); ++h)
        table.heads.push_back(head_of(end[h], start ? begin[h] : begin, table.causal, table.shown));
      tables.push_back(std::move(table));
    }
  }
  return tables;
}

}  // namespace synthesizer
