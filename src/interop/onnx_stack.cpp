#include "interop/onnx_stack.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "interop/onnx_attention.h"
#include "interop/onnx_halting.h"
#include "model/activation.h"
#include "model/positions.h"

namespace synthesizer {
namespace {

OnnxValue onnx_norm(OnnxModel& model, const OnnxValue& x, const std::string& name) {
  OnnxGraph& graph = model.graph;
  const auto epsilon = static_cast<float>(model.options.norm_epsilon);
  const OnnxValue weight = model.weight(name + ".weight");
  if (model.options.norm == NormKind::layer) {
    std::vector<OnnxValue> inputs = {x, weight};
    if (model.has(name + ".bias")) inputs.push_back(model.weight(name + ".bias"));
    return graph.node("LayerNormalization", inputs, {{"axis", int64_t{-1}}, {"epsilon", epsilon}});
  }
  const OnnxValue square = graph.node("ReduceMean", {model.multiply(x, x)},
                                      {{"axes", std::vector<int64_t>{-1}}, {"keepdims", int64_t{1}}});
  const OnnxValue root = graph.node("Sqrt", {model.add(square, graph.number(epsilon))});
  return model.multiply(graph.node("Div", {x, root}), weight);
}

OnnxValue onnx_activation(OnnxModel& model, const OnnxValue& x) {
  OnnxGraph& graph = model.graph;
  auto half_of = [&](const OnnxValue& share) {  // x/2 · (1 + share)
    return model.multiply(model.multiply(x, graph.number(0.5F)), model.add(share, graph.number(1)));
  };
  switch (model.options.activation) {
    case Activation::relu:
    case Activation::gated_relu: return graph.node("Relu", {x});
    case Activation::gelu:
    case Activation::gated_gelu:
      return half_of(graph.node("Erf", {model.multiply(x, graph.number(std::numbers::sqrt2_v<float> / 2))}));
    case Activation::gelu_tanh:
    case Activation::gated_gelu_tanh: {
      constexpr float kCubic = 0.044715F;
      const OnnxValue cube = model.multiply(model.multiply(model.multiply(x, x), x), graph.number(kCubic));
      const float factor = std::sqrt(2 * std::numbers::inv_pi_v<float>);
      return half_of(graph.node("Tanh", {model.multiply(model.add(x, cube), graph.number(factor))}));
    }
    case Activation::swish: break;
  }
  return model.multiply(x, graph.node("Sigmoid", {x}));
}

OnnxValue onnx_feed_forward(OnnxModel& model, const OnnxValue& x, const std::string& name) {
  const OnnxValue in = model.linear(x, name + ".in");
  const OnnxValue h = is_gated(model.options.activation)
                          ? model.multiply(onnx_activation(model, model.linear(x, name + ".gate")), in)
                          : onnx_activation(model, in);
  return model.linear(h, name + ".out");
}

/// The positions' vectors, N×D, as a stored tensor; empty where there are none.
OnnxValue onnx_position_vectors(OnnxModel& model, const std::string& side) {
  const ModelOptions& o = model.options;
  switch (o.positions) {
    case PositionKind::sinusoidal: return model.graph.tensor("sinusoids", sinusoids(o.max_length, o.width));
    case PositionKind::split_sinusoidal:
      return model.graph.tensor("sinusoids", split_sinusoids(o.max_length, o.width));
    case PositionKind::learned: return model.weight(side + ".positions.weight");
    case PositionKind::relative:
    case PositionKind::none: break;
  }
  return {};
}

/// H×L×L: one number for each head and distance, from a table of all distances, H×(2N-1).
OnnxValue onnx_relative_bias(OnnxModel& model, const OnnxValue& places, const std::string& side) {
  const int64_t n = model.options.max_length;
  const auto buckets = relative_buckets(n - 1, 1, 2 * n - 1, side == "decoder").flatten();
  const auto table = model.values(side + ".positions.relative").index_select(0, buckets).t();
  const OnnxValue distance =
      model.graph.node("Sub", {model.unsqueeze(places, {0}), model.unsqueeze(places, {1})});
  return model.graph.node("Gather",
                          {model.graph.tensor(side + ".positions.relative", table),
                           model.add(distance, model.graph.whole(n - 1))},
                          {{"axis", int64_t{1}}});
}

/// One of the two sides.
class OnnxStack {
 public:
  /// `sequence`: of the stack's own tokens, the bias aside; `memory`: null where there is no cross-attention.
  OnnxStack(OnnxModel& model, Side side, OnnxSequence sequence, const OnnxMemory* memory)
      : model_(model),
        side_(side),
        name_(side == Side::encoder ? "encoder" : "decoder"),
        sequence_(std::move(sequence)) {
    model_.graph.set_scope(name_);
    if (model_.options.positions == PositionKind::relative)
      sequence_.bias = onnx_relative_bias(model_, sequence_.places, name_);
    if (const OnnxValue vectors = onnx_position_vectors(model_, name_); !vectors.empty())
      positions_ = model_.narrowed(vectors, 0, sequence_.length);
    if (!memory) return;
    memory_ = memory->encoded;
    const OnnxValue columns = model_.places(model_.size_of(memory_, 1));
    memory_visible_ = model_.unsqueeze(onnx_real(model_, memory->lengths, columns), {1, 2});
  }

  OnnxValue apply(const OnnxValue& embedded) {
    const ModelOptions& o = model_.options;
    OnnxValue y = with_positions(embedded);
    if (o.embedding_norm) y = onnx_norm(model_, y, name_ + ".embedding_norm");
    const std::vector<std::string> specs = attention_of_layers(o, side_);
    if (o.recurrent_depth > 0) {
      y = apply_again_and_again(y, specs.front());
    } else {
      for (size_t n = 0; n < specs.size(); ++n) y = layer(y, n, specs[n]);
    }
    model_.graph.set_scope(name_);
    return o.norm_place == NormPlace::pre ? onnx_norm(model_, y, name_ + ".norm") : y;
  }

 private:
  OnnxValue with_positions(const OnnxValue& x) { return positions_.empty() ? x : model_.add(x, positions_); }

  /// A Universal Transformer: one layer, with positions and a vector for the time before every application.
  OnnxValue apply_again_and_again(OnnxValue y, const std::string& spec) {
    const ModelOptions& o = model_.options;
    const std::string learned = name_ + ".times";
    const at::Tensor times =
        model_.has(learned) ? model_.values(learned) : sinusoids(o.recurrent_depth, o.width);
    OnnxHalting halting(model_, name_);
    for (int64_t n = 0; n < o.recurrent_depth; ++n) {
      const OnnxValue time = model_.graph.tensor(fmt::format("{}.{}", learned, n), times.select(0, n));
      const OnnxValue timed = model_.add(y, time);
      const OnnxValue entering = n == 0 ? timed : with_positions(timed);
      if (o.halting_threshold == 0) {
        y = layer(entering, 0, spec);
      } else {
        halting.decide(entering, n);
        y = halting.apply(y, layer(entering, 0, spec));
      }
    }
    return o.halting_threshold == 0 ? y : halting.output();
  }

  OnnxValue layer(const OnnxValue& x, size_t number, const std::string& spec) {
    const std::string name = fmt::format("{}.layers.{}", name_, number);
    const AttentionOptions attention = layer_attention(model_.options, spec, side_ == Side::decoder);
    OnnxValue y = residual(x, name, "attention", [&](const OnnxValue& h, const std::string& part) {
      return onnx_self_attention(model_, sequence_, h, part, attention);
    });
    if (!memory_.empty()) {
      y = residual(y, name, "cross", [&](const OnnxValue& h, const std::string& part) {
        return onnx_cross_attention(model_, h, memory_, memory_visible_, part);
      });
    }
    return residual(y, name, "feed_forward", [&](const OnnxValue& h, const std::string& part) {
      return onnx_feed_forward(model_, h, part);
    });
  }

  using Branch = std::function<OnnxValue(const OnnxValue& h, const std::string& part)>;
  OnnxValue residual(const OnnxValue& x, const std::string& layer, const char* part, const Branch& branch) {
    const std::string name = fmt::format("{}.{}", layer, part), norm = name + "_norm";
    model_.graph.set_scope(name);
    if (model_.options.norm_place == NormPlace::post)
      return onnx_norm(model_, model_.add(x, branch(x, name)), norm);
    return model_.add(x, branch(onnx_norm(model_, x, norm), name));
  }

  OnnxModel& model_;
  Side side_;
  std::string name_;
  OnnxSequence sequence_;
  OnnxValue positions_;                ///< L×D, or empty
  OnnxValue memory_, memory_visible_;  ///< B×M×D and B×1×1×M, or empty
};

}  // namespace

OnnxValue onnx_embedding(OnnxModel& model, const OnnxValue& tokens, const std::string& name) {
  OnnxValue rows = model.graph.node("Gather", {model.weight(name + ".weight"), tokens});
  if (!model.options.embedding_scale) return rows;
  const double scale = std::sqrt(static_cast<double>(model.options.width));
  return model.multiply(rows, model.graph.number(static_cast<float>(scale)));
}

OnnxValue onnx_real(OnnxModel& model, const OnnxValue& lengths, const OnnxValue& places) {
  return model.graph.node("Less", {places, model.unsqueeze(lengths, {1})});
}

OnnxValue onnx_encoder(OnnxModel& model, const OnnxValue& embedded, const OnnxValue& lengths) {
  OnnxSequence sequence;
  sequence.length = model.size_of(embedded, 1);
  sequence.places = model.places(sequence.length);
  sequence.real = onnx_real(model, lengths, sequence.places);
  sequence.visible = model.unsqueeze(sequence.real, {1, 2});
  return OnnxStack(model, Side::encoder, std::move(sequence), nullptr).apply(embedded);
}

OnnxValue onnx_decoder(OnnxModel& model, const OnnxValue& embedded, const OnnxMemory* memory) {
  OnnxSequence sequence;
  sequence.length = model.size_of(embedded, 1);
  sequence.places = model.places(sequence.length);
  sequence.visible =
      model.graph.node("LessOrEqual", {sequence.places, model.unsqueeze(sequence.places, {1})});
  return OnnxStack(model, Side::decoder, std::move(sequence), memory).apply(embedded);
}

}  // namespace synthesizer
