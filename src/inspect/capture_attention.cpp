#include "inspect/capture_attention.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "model/attention_hook.h"
#include "text/utf8.h"

namespace synthesizer {
namespace {

AttentionPlace place_of(const AttentionCall& call) {
  const std::string name = call.part == "cross" ? call.part : call.layer.substr(0, call.layer.find('.'));
  return choose<AttentionPlace>("the stack of " + call.layer, name);
}

std::vector<WeightMap> maps_of(const at::Tensor& weights, bool causal) {
  const auto heads = weights[0].to(at::kFloat).contiguous();  // H×L×M
  std::vector<WeightMap> maps;
  for (int64_t h = 0; h < heads.size(0); ++h) {
    const auto head = heads[h];
    const float* values = head.const_data_ptr<float>();
    maps.push_back({head.size(0), head.size(1), causal, {values, values + head.numel()}});
  }
  return maps;
}

std::string shown(const Tokenizer& tokenizer, int64_t token) {
  if (token >= tokenizer.size()) return fmt::format("<extra {}>", token - tokenizer.size());
  std::string piece = replace_invalid(tokenizer.piece(static_cast<Token>(token)));
  if (piece == "\n") return "↵";
  if (piece == " ") return "␣";
  return piece;
}

void check_text(const char* option, const std::string& text) {
  if (const size_t byte = first_invalid_byte(text); byte != std::string::npos)
    invalid(fmt::format("{}: byte {} is not UTF-8", option, byte + 1));
  if (split_words(text).empty()) invalid(fmt::format("{} is empty: give a text to inspect", option));
}

}  // namespace

std::vector<CapturedLayer> capture_attention(Task& task, const Batch& example) {
  c10::NoGradGuard no_grad;
  std::vector<CapturedLayer> layers;
  std::map<AttentionPlace, size_t> in_stack;
  const ScopedAttentionHook hook([&](const AttentionCall& call) {
    const AttentionPlace stack = place_of(call);
    layers.push_back({stack, in_stack[stack]++, call.layer, call.attention, {}});
    if (call.weights) layers.back().heads = maps_of(call.weights(), call.causal);
  });
  task.loss(example);
  // A decoder's two attentions take turns; stacks are easier to read one after another.
  std::stable_sort(layers.begin(), layers.end(),
                   [](const CapturedLayer& a, const CapturedLayer& b) { return a.stack < b.stack; });
  return layers;
}

Batch single_row(const Batch& batch, size_t row, int64_t limit) {
  Batch single;
  single.sequence = batch.sequence;
  for (const Field& field : batch.fields) {
    const int64_t length = limit > 0 ? std::min(limit, field.lengths[row]) : field.lengths[row];
    const auto begin = field.ids.begin() + static_cast<std::ptrdiff_t>(row) * field.columns;
    single.fields.push_back({1, length, {begin, begin + length}, {length}});
  }
  return single;
}

std::vector<SideTokens> tokens_of(const Task& task, const Batch& example) {
  std::vector<SideTokens> sides;
  for (const SideInput& input : task.inputs_of(example)) {
    SideTokens tokens{input.side, {}};
    for (const int64_t id : input.tokens.ids) tokens.pieces.push_back(shown(*input.tokenizer, id));
    sides.push_back(std::move(tokens));
  }
  return sides;
}

GivenText example_of(Task& task, const std::string& text, const std::string& target) {
  check_text("--text", text);
  if (!target.empty()) check_text("--target", target);
  auto* translator = dynamic_cast<Translator*>(&task);
  if (!translator && !target.empty())
    invalid(fmt::format("--target: a {} model reads one text alone", task.recipe().task));
  if (const auto* classifier = dynamic_cast<const TextClassifier*>(&task))
    return {text, "", task.batch_of({text, classifier->labels().front()})};
  if (!translator) return {text, "", task.batch_of({text})};
  std::string written = target;
  if (written.empty()) {
    task.batch_of({text, ""});  // a source that is too long is told as such
    std::vector<std::string> remarks;
    DecodeOptions greedy = task.recipe().decode;
    greedy.beam = 1;
    greedy.nbest = 1;
    written = translator
                  ->translate({text}, greedy, task.recipe().train.batch_tokens, LongLine::truncate, 1,
                              remarks)[0][0]
                  .text;
  }
  return {text, written, task.batch_of({text, written})};
}

}  // namespace synthesizer
