#include "model/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "attention/baselines.h"
#include "attention/memory_cost.h"
#include "attention/mixer.h"
#include "attention/mixture.h"
#include "attention/spec.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/range.h"

namespace synthesizer {
namespace {

constexpr int64_t kMostLayers =
    10'000;  // far beyond any model; each takes time and memory even to be counted

/// An option that no attention at all takes is a mistake; one that only others take is not: the same recipe
/// serves several attention variants.
void check_attention_options(const OptionMap& options) {
  std::vector<std::string> known;
  for (const OptionInfo& option : Mixture::options()) known.push_back(option.name);
  for (const Variant& variant : variants()) {
    for (const OptionInfo& option : variant.options) known.push_back(option.name);
  }
  for (const Baseline& baseline : baselines()) {
    for (const OptionInfo& option : baseline.options) known.push_back(option.name);
  }
  for (const auto& [name, value] : options.values()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    invalid(fmt::format("model.options.{}: no attention has that option{}", name, did_you_mean(name, known)));
  }
}

/// The key that a side's attention comes from.
const char* attention_key(const ModelOptions& options, Side side) {
  const bool encoder = side == Side::encoder;
  const auto& own = encoder ? options.encoder_attention : options.decoder_attention;
  return own.empty() ? "model.attention" : encoder ? "model.encoder_attention" : "model.decoder_attention";
}

}  // namespace

std::vector<std::string> attention_of_layers(const ModelOptions& options, Side side) {
  const bool encoder = side == Side::encoder;
  const int64_t own = encoder ? options.encoder_layers : options.decoder_layers;
  const auto layers = options.recurrent_depth > 0 ? 1 : static_cast<size_t>(own > 0 ? own : options.layers);
  const auto& own_specs = encoder ? options.encoder_attention : options.decoder_attention;
  const auto& specs = own_specs.empty() ? options.attention : own_specs;
  if (specs.size() == 1) return std::vector<std::string>(layers, specs[0]);
  if (specs.size() != layers) {
    invalid(fmt::format("{} has {} entries for {} layers: give one for all, or one per layer",
                        attention_key(options, side), specs.size(), layers));
  }
  return specs;
}

AttentionOptions layer_attention(const ModelOptions& options, const std::string& spec, bool causal) {
  AttentionOptions layer{.attention = spec,
                         .width = options.width,
                         .heads = options.heads,
                         .max_length = options.max_length,
                         .causal = causal,
                         .dropout = options.attention_dropout,
                         .bias = options.bias};
  const auto baseline = find_baseline(spec);
  for (const OptionInfo& known : options_of(spec)) {
    if (baseline && baseline->size && baseline->baseline->size == known.name)
      continue;  // this layer has its own
    const auto given = options.attention_options.values().find(known.name);
    if (given != options.attention_options.values().end()) layer.options.set(known.name, given->second);
  }
  return layer;
}

std::vector<std::string> unused_options(const ModelOptions& options, const std::vector<Side>& sides) {
  std::set<std::string> used;
  for (const Side side : sides) {
    for (const std::string& spec : attention_of_layers(options, side)) {
      const AttentionOptions layer = layer_attention(options, spec, side == Side::decoder);
      for (const auto& [name, value] : layer.options.values()) used.insert(name);
    }
  }
  std::vector<std::string> unused;
  for (const auto& [name, value] : options.attention_options.values()) {
    if (!used.contains(name)) unused.push_back(name);
  }
  return unused;
}

void check(const ModelOptions& options, const std::vector<Side>& sides) {
  check_at_least("model.width", options.width, 1);
  check_at_least("model.heads", options.heads, 1);
  if (options.width % options.heads != 0) {
    invalid(fmt::format("model.width is {} and model.heads {}: the width must be a multiple of the heads",
                        options.width, options.heads));
  }
  check_between("model.layers", options.layers, 1, kMostLayers);
  check_between("model.encoder_layers", options.encoder_layers, 0, kMostLayers);
  check_between("model.decoder_layers", options.decoder_layers, 0, kMostLayers);
  check_between("model.recurrent_depth", options.recurrent_depth, 0, kMostLayers);
  check_fraction("model.halting_threshold", options.halting_threshold);
  if (options.halting_threshold > 0 && options.recurrent_depth == 0)
    invalid(
        "model.halting_threshold is set without model.recurrent_depth, the most applications of the layer");
  check_at_least("model.feed_forward", options.feed_forward, 1);
  check_at_least("model.max_length", options.max_length, 1);
  check_fraction("model.dropout", options.dropout);
  check_fraction("model.attention_dropout", options.attention_dropout);
  check_fraction("model.activation_dropout", options.activation_dropout);
  check_positive("model.norm_epsilon", options.norm_epsilon);
  const bool vectors = options.positions != PositionKind::relative && options.positions != PositionKind::none;
  if (vectors && options.width % 2 != 0)
    invalid(fmt::format("model.width is {}: {} positions need an even one (or set model.positions)",
                        options.width, choice_name(options.positions)));
  if (vectors)
    check_fits_memory({{"the table of positions", Role::embedding, {options.max_length, options.width}, {}}});
  if (options.recurrent_depth > 0 && options.width % 2 != 0)
    invalid(
        fmt::format("model.width is {}: the steps of model.recurrent_depth need an even one", options.width));
  check_attention_options(options.attention_options);
  for (const Side side : sides) {
    bool is_position_aware = false;
    std::map<std::string, int64_t> layers_of;  // how many have which attention
    for (const std::string& spec : attention_of_layers(options, side)) ++layers_of[spec];
    for (const auto& [spec, layers] : layers_of) {
      try {
        const auto mixer = make_mixer(layer_attention(options, spec, side == Side::decoder));
        is_position_aware |= mixer->supports_bias() || mixer->is_position_aware();
        check_fits_memory(mixer->parameters(), layers);
      } catch (const InvalidInput& mistake) {
        invalid(fmt::format("{}: {}", attention_key(options, side), mistake.what()));
      }
    }
    if (options.positions == PositionKind::relative && !is_position_aware) {
      invalid(
          fmt::format("model.positions is 'relative', but none of {} has logits to add them to: set it to "
                      "'sinusoidal', 'learned' or 'none'",
                      attention_key(options, side)));
    }
  }
}

}  // namespace synthesizer
