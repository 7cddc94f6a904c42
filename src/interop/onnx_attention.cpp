#include "interop/onnx_attention.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "attention/baselines.h"
#include "attention/mixture.h"
#include "attention/spec.h"
#include "base/error.h"
#include "base/parameter_names.h"
#include "interop/onnx_baselines.h"

namespace synthesizer {
namespace {

/// The logits of one member of a mixture, B×H×L×L or, where they depend on no token, H×L×L.
class OnnxMember {
 public:
  /// `name`: before the names of the member's tensors, "decoder.layers.0.attention.logits.V.".
  OnnxMember(OnnxModel& model, const OnnxSequence& sequence, const OnnxValue& x, std::string name,
             const AttentionOptions& layer)
      : model_(model), sequence_(sequence), x_(x), name_(std::move(name)), layer_(layer) {}

  OnnxValue logits(const std::string& variant) {
    if (variant == "V") return vanilla();
    if (variant == "D") return dense();
    if (variant == "FR") return factorized_random();
    if (variant == "FD") return factorized_dense();
    return random();
  }

 private:
  OnnxValue vanilla() {
    auto heads = [&](const char* part) { return model_.split_heads(model_.linear(x_, name_ + part)); };
    return model_.scaled_product(heads("query"), heads("key"));
  }

  OnnxValue random() {
    const OnnxValue rows = model_.narrowed(model_.weight(name_ + "table"), 1, sequence_.length);
    return model_.narrowed(rows, 2, sequence_.length);
  }

  OnnxValue factorized_random() {
    auto factor = [&](const char* part) {
      return model_.narrowed(model_.weight(name_ + part), 1, sequence_.length);  // H×L×k
    };
    return model_.matmul(factor("left"), model_.transpose(factor("right"), {0, 2, 1}));
  }

  OnnxValue dense() {
    const OnnxValue weight = model_.narrowed(model_.weight(name_ + "out.weight"), -1, sequence_.length);
    const OnnxValue bias = model_.narrowed(bias_of_rows("out.bias"), -1, sequence_.length);
    return model_.add(model_.matmul(hidden(), weight), bias);
  }

  OnnxValue factorized_dense() {
    const OnnxValue features = hidden();
    auto factor = [&](const std::string& part) {
      return model_.add(model_.matmul(features, model_.weight(name_ + part + ".weight")),
                        bias_of_rows(part + ".bias"));
    };
    const OnnxValue left = factor("a"), right = factor("b");  // B×H×L×a, B×H×L×b
    const int64_t a = model_.values(name_ + "a.bias").size(1), b = model_.values(name_ + "b.bias").size(1);
    if (layer_.options.text("tiling", "outer") == "tile") {
      auto repeated = [&](const OnnxValue& values, int64_t size) {
        const OnnxValue index = model_.graph.node("Mod", {sequence_.places, model_.graph.whole(size)});
        return model_.graph.node("Gather", {values, index}, {{"axis", int64_t{3}}});
      };
      return model_.multiply(repeated(left, a), repeated(right, b));
    }
    // b×a products, row by row: number j is left[j mod a] · right[j div a].
    const OnnxValue products = model_.multiply(model_.unsqueeze(right, {4}), model_.unsqueeze(left, {3}));
    return model_.narrowed(model_.reshape(products, {0, 0, 0, a * b}), 3, sequence_.length);
  }

  /// B×H×L×C, or B×1×L×D where there is no hidden layer.
  OnnxValue hidden() {
    if (!model_.has(name_ + "hidden.weight")) return model_.unsqueeze(x_, {1});
    const OnnxValue h = model_.graph.node("Relu", {model_.linear(x_, name_ + "hidden")});
    const int64_t width = model_.values(name_ + "hidden.weight").size(0) / layer_.heads;
    return model_.transpose(model_.reshape(h, {0, 0, layer_.heads, width}), {0, 2, 1, 3});
  }

  /// A bias H×N, or N for all heads, stored as H×1×N or 1×N: beside the rows of all positions.
  OnnxValue bias_of_rows(const std::string& part) {
    return model_.graph.tensor(name_ + part, model_.values(name_ + part).unsqueeze(-2));
  }

  OnnxModel& model_;
  const OnnxSequence& sequence_;
  const OnnxValue& x_;
  std::string name_;
  const AttentionOptions& layer_;
};

/// S = Σ_n α_n S_n, and the bias of relative positions.
OnnxValue onnx_mixture_logits(OnnxModel& model, const OnnxSequence& sequence, const OnnxValue& x,
                              const std::string& name, const AttentionOptions& layer) {
  const auto members = parse_spec(layer.attention);
  const std::string mixture = name + "." + std::string(kMixtureName);
  at::Tensor shares;  // n, or H×n
  if (model.has(mixture)) shares = mixture_shares(model.values(mixture));
  OnnxValue sum;
  for (size_t n = 0; n < members.size(); ++n) {
    const std::string& variant = members[n]->abbreviation;
    const std::string prefix = fmt::format("{}.{}{}.", name, kLogitsPrefix, variant);
    OnnxValue logits = OnnxMember(model, sequence, x, prefix, layer).logits(variant);
    if (shares.defined()) {
      const at::Tensor share = shares.select(-1, static_cast<int64_t>(n)).reshape({-1, 1, 1});
      logits = model.multiply(logits, model.graph.tensor(prefix + "share", share));
    }
    sum = n == 0 ? logits : model.add(sum, logits);
  }
  return sequence.bias.empty() ? sum : model.add(sum, sequence.bias);
}

}  // namespace

OnnxValue onnx_self_attention(OnnxModel& model, const OnnxSequence& sequence, const OnnxValue& x,
                              const std::string& name, const AttentionOptions& layer) {
  if (const auto found = find_baseline(layer.attention))
    return onnx_baseline(model, sequence, x, name, layer, found->baseline->name);
  const OnnxValue value = model.split_heads(model.linear(x, name + ".value"));
  const OnnxValue logits = onnx_mixture_logits(model, sequence, x, name, layer);
  return model.linear(model.join_heads(model.attend(logits, sequence.visible, value)), name + ".output");
}

OnnxValue onnx_cross_attention(OnnxModel& model, const OnnxValue& x, const OnnxValue& memory,
                               const OnnxValue& visible, const std::string& name) {
  auto heads = [&](const OnnxValue& of, const char* part) {
    return model.split_heads(model.linear(of, name + part));
  };
  const OnnxValue logits = model.scaled_product(heads(x, ".query"), heads(memory, ".key"));
  const OnnxValue y = model.attend(logits, visible, heads(memory, ".value"));
  return model.linear(model.join_heads(y), name + ".output");
}

void check_onnx_attention(const std::string& spec) {
  auto refuse = [](const std::string& name) {
    invalid(
        fmt::format("this run has layers with {}, which cannot be exported to ONNX: V, D, R, Fix, FR, FD, "
                    "mixtures of them, light-conv, dynamic-conv and linformer can",
                    name));
  };
  if (const auto found = find_baseline(spec)) {
    if (!is_onnx_baseline(found->baseline->name)) refuse(found->baseline->name);
    return;
  }
  for (const Variant* member : parse_spec(spec)) {
    const auto known = {"V", "D", "R", "Fix", "FR", "FD"};
    if (std::find(known.begin(), known.end(), member->abbreviation) == known.end()) refuse(member->name);
  }
}

}  // namespace synthesizer
