#include "attention/factorized_dense.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "attention/dense.h"
#include "attention/heads.h"
#include "attention/option_choice.h"

namespace synthesizer {
namespace {

/// How the two factors fill a row: all pairs of their entries, or both repeated.
enum class Tiling { outer, tile };
Choices choices(Tiling) {
  static constexpr ChoiceName names[] = {{"outer"}, {"tile"}};
  return names;
}

/// The largest power of two ≤ sqrt(N).
int64_t default_a(int64_t max_length) {
  int64_t a = 1;
  while (4 * a * a <= max_length) a *= 2;
  return a;
}

}  // namespace

FactorizedDense::FactorizedDense(const AttentionOptions& options)
    : width_(options.width), heads_(options.heads), hidden_(hidden_width(options)) {
  const int64_t n = options.max_length;
  auto covering = [n](int64_t size) { return (n + size - 1) / size; };  // N / size, rounded up
  auto positive = [&](const char* name, int64_t fallback) {
    int64_t value = options.options.integer(name, fallback);
    if (value < 1) invalid(fmt::format("option '{}' is {}: it must be at least 1", name, value));
    return value;
  };
  // Where one of the two is given, the other follows from it.
  a_ = positive("a", options.options.has("b") ? covering(positive("b", 1)) : default_a(n));
  b_ = positive("b", covering(a_));
  if (a_ < covering(b_)) {
    invalid(fmt::format("a = {} and b = {} give too few products: a·b must be at least max_length {}", a_, b_,
                        n));
  }
  tile_ = choice_option(options.options, "tiling", Tiling::outer) == Tiling::tile;
}

std::vector<OptionInfo> FactorizedDense::options() {
  return {hidden_option(),
          {"a", "a whole number ≥ 1", "size of the first factor (default: largest 2^i ≤ sqrt(N))"},
          {"b", "a whole number ≥ 1", "size of the second factor (default: N/a rounded up)"},
          {"tiling", list_of(choices(Tiling{})), "all pairs (default), or both vectors repeated"}};
}

std::vector<Parameter> FactorizedDense::parameters() const {
  auto all = hidden_parameters(width_, heads_, hidden_);
  all.push_back({"a.weight", Role::matrix, {heads_, features(), a_}, Init::xavier(features(), a_)});
  all.push_back({"a.bias", Role::logits, {heads_, a_}, Init::zero()});
  all.push_back({"b.weight", Role::matrix, {heads_, features(), b_}, Init::xavier(features(), b_)});
  all.push_back({"b.bias", Role::logits, {heads_, b_}, Init::zero()});
  return all;
}

Logits FactorizedDense::logits(const Weights& weights, const at::Tensor& x, const RowRange& range) const {
  auto hidden = hidden_features(weights, x, heads_, range.packed);
  auto factor = [&](const char* weight, const char* bias) {
    return at::matmul(hidden, weights[weight]) + weights[bias].unsqueeze(1);
  };
  Logits logits;
  logits.left = factor("a.weight", "a.bias");   // B×H×L×a
  logits.right = factor("b.weight", "b.bias");  // B×H×L×b
  logits.tile = tile_;
  return logits;
}

void FactorizedDense::prepare_growth(AttentionOptions& larger) const {
  if (tile_)
    invalid("factorized-dense with tiling = 'tile' cannot grow: its columns would change their meaning");
  // Column j is found by j mod a and j div a: a must stay what it was, b may only grow.
  larger.options.set("a", a_);
  larger.options.set("b", std::max(b_, (larger.max_length + a_ - 1) / a_));
}

int64_t FactorizedDense::macs(int64_t length) const {
  return length * width_ * heads_ * hidden_ + length * heads_ * features() * (a_ + b_) +
         heads_ * length * length;
}

}  // namespace synthesizer
