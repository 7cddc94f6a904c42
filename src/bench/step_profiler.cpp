#include "bench/step_profiler.h"

#include <ATen/record_function.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>

namespace synthesizer::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// What the callbacks, which are plain functions, share. All operators of a step are called by one thread.
struct Listener {
  int64_t feed_forward;
  int depth = 0;
  std::string part;                                           ///< of the outermost call
  std::unordered_map<int64_t, std::string> part_of_sequence;  ///< of forward operators, for their backward
  std::map<std::string, double> seconds;
};
Listener* listener = nullptr;

struct Call : at::ObserverContext {
  Clock::time_point begin;
};

/// The sizes of the second tensor given: of a linear layer, its weight.
std::vector<int64_t> weight_sizes(const at::RecordFunction& call) {
  const auto inputs = call.inputs();
  if (inputs.size() < 2 || !inputs[1].isTensor() || !inputs[1].toTensor().defined()) return {};
  return inputs[1].toTensor().sizes().vec();
}

std::string part_of(const at::RecordFunction& call) {
  const std::string_view name = call.name();
  auto has = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  if (has("fused_adam") || has("_foreach") || has("zero_")) return "optimizer";
  if (has("attend") || has("convolve")) return "core";
  if (has("cross_entropy")) return "loss";
  if (has("relu") || has("gelu") || has("map_activated")) return "feed-forward";
  if (has("layer_norm") || has("rms_norm") || has("drop_out") || name == "aten::add")
    return "norms, residuals, dropout";
  if (has("embedding")) return "embeddings";
  if (!has("linear") && !has("matmul")) return "rest";
  const auto sizes = weight_sizes(call);
  const auto feed_forward = std::find(sizes.begin(), sizes.end(), listener->feed_forward);
  return feed_forward != sizes.end() ? "feed-forward" : "projections";
}

/// The engine of the backward pass announces every node twice, first in its own name.
bool is_engine(const at::RecordFunction& call) {
  return std::string_view(call.name()).starts_with("autograd::engine");
}

std::unique_ptr<at::ObserverContext> enter(const at::RecordFunction& call) {
  if (is_engine(call)) return nullptr;
  const bool outermost = listener->depth++ == 0,
             backward = call.scope() == at::RecordScope::BACKWARD_FUNCTION;
  if (outermost && backward) {
    const auto found = listener->part_of_sequence.find(call.seqNr());
    listener->part = found == listener->part_of_sequence.end() ? "rest" : found->second;
  } else if (outermost) {
    listener->part = part_of(call);
  }
  // Calls within a call have nodes of their own in the backward pass. The number is that of the next node,
  // which the last one to name it makes.
  if (!backward && call.seqNr() >= 0) listener->part_of_sequence[call.seqNr()] = listener->part;
  if (!outermost) return nullptr;
  auto context = std::make_unique<Call>();
  context->begin = Clock::now();
  return context;
}

void leave(const at::RecordFunction& call, at::ObserverContext* context) {
  if (is_engine(call)) return;
  --listener->depth;
  if (const auto* timed = static_cast<Call*>(context))
    listener->seconds[listener->part] += std::chrono::duration<double>(Clock::now() - timed->begin).count();
}

}  // namespace

StepProfiler::StepProfiler(int64_t feed_forward) {
  listener = new Listener{feed_forward, 0, {}, {}, {}};
  handle_ =
      at::addGlobalCallback(at::RecordFunctionCallback(enter, leave)
                                .needsInputs(true)
                                .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}

StepProfiler::~StepProfiler() {
  at::removeCallback(handle_);
  delete listener;
  listener = nullptr;
}

std::vector<std::pair<std::string, double>> StepProfiler::seconds() const {
  std::vector<std::pair<std::string, double>> parts(listener->seconds.begin(), listener->seconds.end());
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return parts;
}

}  // namespace synthesizer::bench
