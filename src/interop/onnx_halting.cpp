#include "interop/onnx_halting.h"

#include <ATen/ATen.h>

namespace synthesizer {

void OnnxHalting::decide(const OnnxValue& entering, int64_t n) {
  OnnxGraph& graph = model_.graph;
  graph.set_scope(name_ + ".halting");
  auto real = [&](double value, const char* name) {
    return graph.tensor(name, at::scalar_tensor(value, at::kDouble));
  };
  const OnnxValue zero = real(0, "halting.zero"), one = real(1, "halting.one");
  const OnnxValue product = model_.multiply(entering, model_.weight(name_ + ".halting_weight"));
  const OnnxValue score = graph.node("ReduceSum", {product, graph.wholes({-1})}, {{"keepdims", int64_t{1}}});
  // In double, as ours: sums near the threshold.
  const OnnxValue wide = graph.node("Cast", {score}, {{"to", static_cast<int64_t>(OnnxType::float64)}});
  const std::string bias_name = name_ + ".halting_bias";
  const OnnxValue bias = graph.tensor(bias_name, model_.values(bias_name).to(at::kDouble));
  const OnnxValue p = graph.node("Sigmoid", {model_.add(wide, bias)});
  const bool last = n + 1 == model_.options.recurrent_depth;
  if (n == 0) {
    sum_ = model_.multiply(p, zero);
    running_ = graph.node("Greater", {p, real(-1, "halting.minus_one")});  // all of them
  }
  const OnnxValue more = model_.add(sum_, p);
  const OnnxValue over =
      graph.node("Greater", {more, real(model_.options.halting_threshold, "halting.threshold")});
  const OnnxValue stops = last ? running_ : graph.node("And", {running_, over});
  const OnnxValue goes_on = graph.node("Where", {running_, p, zero});
  share_ = graph.node("Where", {stops, graph.node("Sub", {one, sum_}), goes_on});
  sum_ = model_.add(sum_, share_);
  was_running_ = running_;
  running_ = graph.node("And", {running_, graph.node("Not", {stops})});
}

OnnxValue OnnxHalting::apply(const OnnxValue& before, const OnnxValue& after) {
  OnnxGraph& graph = model_.graph;
  graph.set_scope(name_ + ".halting");
  const OnnxValue share = graph.node("Cast", {share_}, {{"to", static_cast<int64_t>(OnnxType::float32)}});
  const OnnxValue part = model_.multiply(after, share);
  output_ = output_.empty() ? part : model_.add(output_, part);
  return graph.node("Where", {was_running_, after, before});
}

}  // namespace synthesizer
