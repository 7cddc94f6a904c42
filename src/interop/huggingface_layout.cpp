// Which layout of Hugging Face a run's model is, by its settings alone.

#include "interop/huggingface_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "interop/export_parts.h"
#include "model/activation.h"
#include "task/registry.h"
#include "task/sequence_task.h"

namespace synthesizer {
namespace {

/// A layout, and the settings in which a model differs from it.
class LayoutFit {
 public:
  LayoutFit(HuggingFaceLayout layout, const char* name) : layout_(layout), name_(name) {}

  HuggingFaceLayout layout() const { return layout_; }
  const std::string& name() const { return name_; }
  /// 'model.norm_place = "post" (here "pre")' of each.
  const std::vector<std::string>& differences() const { return differences_; }

  template <NamedEnum E>
  void expect(const char* key, E here, E wanted) {
    if (here != wanted)
      differ(fmt::format("{} = \"{}\"", key, choice_name(wanted)), fmt::format("\"{}\"", choice_name(here)));
  }
  void expect(const char* key, bool here, bool wanted) {
    if (here != wanted) differ(fmt::format("{} = {}", key, wanted), fmt::format("{}", here));
  }
  void differ(const std::string& wanted, const std::string& here) {
    differences_.push_back(fmt::format("{} (here {})", wanted, here));
  }

 private:
  HuggingFaceLayout layout_;
  std::string name_;
  std::vector<std::string> differences_;
};

void expect_plain_activation(LayoutFit& fit, Activation activation) {
  if (is_gated(activation))
    fit.differ("a model.activation without a gate", fmt::format("\"{}\"", choice_name(activation)));
}

/// A table of positions can hold those of a formula too.
void expect_table_of_positions(LayoutFit& fit, PositionKind positions) {
  if (positions == PositionKind::relative) fit.expect("model.positions", positions, PositionKind::learned);
}

LayoutFit fit_marian(const ModelOptions& model) {
  LayoutFit fit(HuggingFaceLayout::marian, "MarianMT");
  constexpr double kEpsilon = 1e-5;  // theirs has no setting for it
  fit.expect("model.positions", model.positions, PositionKind::split_sinusoidal);
  fit.expect("model.norm", model.norm, NormKind::layer);
  fit.expect("model.norm_place", model.norm_place, NormPlace::post);
  if (model.norm_epsilon != kEpsilon)
    fit.differ(fmt::format("model.norm_epsilon = {}", kEpsilon), fmt::format("{}", model.norm_epsilon));
  fit.expect("model.embedding_norm", model.embedding_norm, false);
  expect_plain_activation(fit, model.activation);
  return fit;
}

LayoutFit fit_t5(const ModelOptions& model, const Tokenizers& tokenizers) {
  LayoutFit fit(HuggingFaceLayout::t5, "T5");
  fit.expect("model.positions", model.positions, PositionKind::relative);
  fit.expect("model.norm", model.norm, NormKind::rms);
  fit.expect("model.norm_place", model.norm_place, NormPlace::pre);
  fit.expect("model.embedding_norm", model.embedding_norm, false);
  fit.expect("model.bias", model.bias, false);
  fit.expect("model.output_bias", model.output_bias, false);
  fit.expect("query_bias of model.options", model.attention_options.flag("query_bias", false), false);
  if (model.activation == Activation::gated_gelu)  // theirs of that name is by tanh
    fit.expect("model.activation", model.activation, Activation::gated_gelu_tanh);
  fit.expect("model.shared_embedding", model.shared_embedding, true);
  if (!tokenizers.joint()) fit.differ("one tokenizer", "two");
  return fit;
}

LayoutFit fit_gpt2(const ModelOptions& model) {
  LayoutFit fit(HuggingFaceLayout::gpt2, "GPT-2");
  expect_table_of_positions(fit, model.positions);
  fit.expect("model.norm", model.norm, NormKind::layer);
  fit.expect("model.norm_place", model.norm_place, NormPlace::pre);
  fit.expect("model.embedding_norm", model.embedding_norm, false);
  fit.expect("model.output_bias", model.output_bias, false);
  expect_plain_activation(fit, model.activation);
  return fit;
}

LayoutFit fit_bert(const ModelOptions& model) {
  LayoutFit fit(HuggingFaceLayout::bert, "BERT");
  expect_table_of_positions(fit, model.positions);
  fit.expect("model.norm", model.norm, NormKind::layer);
  fit.expect("model.norm_place", model.norm_place, NormPlace::post);
  fit.expect("model.embedding_norm", model.embedding_norm, true);
  fit.expect("model.pooling", model.pooling, Pooling::first_tanh);
  expect_plain_activation(fit, model.activation);
  return fit;
}

/// The layouts that are models of that task, with what differs.
std::vector<LayoutFit> fits_of(const Task& task) {
  const ModelOptions& model = task.recipe().model;
  if (dynamic_cast<const SequenceTask*>(&task)) return {fit_marian(model), fit_t5(model, task.tokenizers())};
  if (task.recipe().task == "language-model") return {fit_gpt2(model)};
  return {fit_bert(model)};
}

/// What no layout has.
void check_layers(const Task& task) {
  const ModelOptions& model = task.recipe().model;
  check_vanilla_layers(model, find_task(task.recipe().task).sides, "Hugging Face");
  if (model.recurrent_depth > 0)
    invalid("this run has model.recurrent_depth, which no layout of Hugging Face has");
}

}  // namespace

HuggingFaceLayout huggingface_layout(const Task& task) {
  check_layers(task);
  const auto fits = fits_of(task);
  const auto nearest =
      std::min_element(fits.begin(), fits.end(), [](const LayoutFit& one, const LayoutFit& other) {
        return one.differences().size() < other.differences().size();
      });
  if (nearest->differences().empty()) return nearest->layout();
  invalid(
      fmt::format("no layout of Hugging Face has all settings of this run; the nearest is {}, which has {}",
                  nearest->name(), fmt::join(nearest->differences(), ", ")));
}

}  // namespace synthesizer
