#include "attention/dense.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "attention/heads.h"
#include "attention/projection.h"

namespace synthesizer {

OptionInfo hidden_option() {
  return {"hidden", "a whole number ≥ 0",
          "width of the hidden layer of each head (default width/heads); 0: no hidden layer"};
}

int64_t hidden_width(const AttentionOptions& options) {
  int64_t hidden = options.options.integer("hidden", options.head_width());
  if (hidden < 0) invalid(fmt::format("option 'hidden' is {}: it must be at least 0", hidden));
  return hidden;
}

std::vector<Parameter> hidden_parameters(int64_t width, int64_t heads, int64_t hidden) {
  if (hidden == 0) return {};
  return projection("hidden", width, heads * hidden, true);
}

at::Tensor hidden_features(const Weights& weights, const at::Tensor& x, int64_t heads,
                           const PackedRows* packed) {
  if (!weights.find("hidden.weight").defined()) {
    const auto all = packed ? packed->unpack(x) : x;
    return all.unsqueeze(1).expand_symint({all.sym_size(0), heads, all.sym_size(1), all.sym_size(2)});
  }
  return split_heads(at::relu(project(weights, "hidden", x)), heads, packed);
}

Dense::Dense(const AttentionOptions& options)
    : width_(options.width),
      heads_(options.heads),
      max_length_(options.max_length),
      hidden_(hidden_width(options)),
      share_heads_(options.options.flag("share_heads", false)) {}

std::vector<OptionInfo> Dense::options() {
  return {hidden_option(), {"share_heads", "true or false", "one output map for all heads (default false)"}};
}

std::vector<Parameter> Dense::parameters() const {
  auto all = hidden_parameters(width_, heads_, hidden_);
  std::vector<int64_t> weight = {features(), max_length_}, bias = {max_length_};
  if (!share_heads_) {
    weight.insert(weight.begin(), heads_);
    bias.insert(bias.begin(), heads_);
  }
  all.push_back({"out.weight", Role::matrix, weight, Init::xavier(features(), max_length_)});
  all.push_back({"out.bias", Role::logits, bias, Init::zero()});
  return all;
}

Logits Dense::logits(const Weights& weights, const at::Tensor& x, const RowRange& range) const {
  auto weight = narrowed(weights["out.weight"], -1, 0, range.columns);  // H×C×M, or C×M
  auto bias = narrowed(weights["out.bias"], -1, 0, range.columns);      // H×M, or M
  Logits logits;
  logits.row = hidden_features(weights, x, heads_, range.packed);
  logits.column = weight.transpose(-1, -2).expand_symint({heads_, range.columns, features()});  // H×M×C
  logits.table = bias.unsqueeze(-2).expand_symint({heads_, 1, range.columns});
  return logits;
}

int64_t Dense::macs(int64_t length) const {
  return length * width_ * heads_ * hidden_ + length * length * heads_ * features();
}

}  // namespace synthesizer
