// POST /v1/score and /v1/attention.

#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/nearest.h"
#include "inspect/capture_attention.h"
#include "inspect/head_statistics.h"
#include "report/packed_matrix.h"
#include "serve/api.h"
#include "serve/error.h"
#include "task/sequence_task.h"
#include "text/utf8.h"

namespace synthesizer::serve {
namespace {

using nlohmann::ordered_json;

struct Likelihood {
  double log_probability;
  int64_t tokens;
};

/// Which text of a request is meant, for messages: one of a list, or the only one.
struct TextPlace {
  bool list;
  size_t number;
};

/// The example, or ApiError 413 that names the field which is too long; nothing else is wrong with it.
Batch example_or_too_long(const Task& task, const std::vector<std::string>& texts, const char* field,
                          const TextPlace& place) {
  try {
    return task.batch_of(texts);
  } catch (const InvalidInput& too_long) {
    throw ApiError(413, TextNames{field, place.list}.message(place.number, too_long.what()), field);
  }
}

/// A text, and for all but language models a target (of a classifier, a label), as an example of the task.
/// Throws ApiError where it cannot be one.
Batch checked_example(const ServedModel& model, const std::string& text, const std::string& target,
                      const TextPlace& place) {
  const Task& task = model.task();
  model.check_line(text, TextNames{"text", place.list}.of(place.number), "text");
  model.check_line(target, TextNames{"target", place.list}.of(place.number), "target");
  if (model.use() == "generate") return example_or_too_long(task, {text}, "text", place);
  if (const auto* classifier = dynamic_cast<const TextClassifier*>(&task)) {
    const auto& labels = classifier->labels();
    if (std::find(labels.begin(), labels.end(), target) == labels.end()) {
      const std::string shown = target.substr(0, 100);
      throw ApiError(400,
                     fmt::format("'target': '{}' is not a label of '{}'{}", shown, model.name(),
                                 did_you_mean(shown, labels)),
                     "target");
    }
    return example_or_too_long(task, {text, target}, "text", place);
  }
  if (!target.empty()) example_or_too_long(task, {text, ""}, "text", place);
  return example_or_too_long(task, {text, target}, target.empty() ? "text" : "target", place);
}

/// Language models score a text; the others score a target given the text, a classifier one of its labels.
bool can_score(const ServedModel& model, const std::optional<Texts>& targets) {
  if (model.use() == "generate" || !targets) return model.use() == "generate" && !targets;
  const auto* classifier = dynamic_cast<const TextClassifier*>(&model.task());
  if (!classifier) return true;
  const auto& labels = classifier->labels();
  return std::all_of(targets->texts.begin(), targets->texts.end(), [&](const std::string& target) {
    return std::find(labels.begin(), labels.end(), target) != labels.end();
  });
}

/// The names of the sides whose attention can be asked for.
std::vector<std::string> side_names(const ServedModel& model) {
  std::vector<std::string> names;
  for (const AttentionPlace side : model.sides()) names.push_back(choice_name(side));
  return names;
}

/// `side` empty: any.
bool can_show_attention(const ServedModel& model, const std::string& side, const std::string& target) {
  if (!target.empty() && model.use() != "translate") return false;
  const auto names = side_names(model);
  return side.empty() ? !names.empty() : std::find(names.begin(), names.end(), side) != names.end();
}

/// The side that is asked for, or the first. Throws ApiError where it has no weights.
AttentionPlace chosen_side(const ServedModel& model, const std::string& side) {
  const auto names = side_names(model);
  if (names.empty()) {
    throw ApiError(400,
                   fmt::format("'{}' has no attention weights (convolutions and Linformer have none): ask "
                               "another model",
                               model.name()),
                   "model");
  }
  if (side.empty()) return model.sides().front();
  const auto found = std::find(names.begin(), names.end(), side);
  if (found == names.end()) {
    throw ApiError(400,
                   fmt::format("'side' is '{}': '{}' has attention weights of {}", side.substr(0, 40),
                               model.name(), fmt::join(names, ", ")),
                   "side");
  }
  return model.sides()[static_cast<size_t>(found - names.begin())];
}

/// One example under the model; of a classifier, the label given the text.
Likelihood score_example(Task& task, const Batch& example) {
  c10::NoGradGuard no_grad;
  const LossSum sum = task.loss(example);
  return {-sum.nll, sum.tokens};
}

/// Throws ApiError where there can be no forward pass over these texts.
void check_captured_text(const ServedModel& model, const std::string& text, const std::string& target) {
  if (split_words(text).empty()) throw ApiError(400, "'text' is empty: give a text to inspect", "text");
  if (model.use() != "translate" && !target.empty()) {
    throw ApiError(400,
                   fmt::format("'target': '{}' reads one text alone, its task is {}: leave it out",
                               model.name(), model.task().recipe().task),
                   "target");
  }
  if (!target.empty() && split_words(target).empty())
    throw ApiError(400, "'target' is empty: leave it out, or give a text", "target");
  const auto* classifier = dynamic_cast<const TextClassifier*>(&model.task());
  checked_example(model, text, classifier ? classifier->labels().front() : target, {});
}

/// What one forward pass showed.
struct CapturedExample {
  std::vector<CapturedLayer> layers;
  std::vector<SideTokens> tokens;
  std::string target;
};

/// Whose tokens the rows and the columns of an attention matrix belong to.
AttentionPlace row_side(AttentionPlace place) {
  return place == AttentionPlace::cross ? AttentionPlace::decoder : place;
}
AttentionPlace column_side(AttentionPlace place) {
  return place == AttentionPlace::cross ? AttentionPlace::encoder : place;
}

const std::vector<std::string>& pieces_of(const CapturedExample& captured, AttentionPlace place) {
  const Side side = place == AttentionPlace::encoder ? Side::encoder : Side::decoder;
  for (const SideTokens& tokens : captured.tokens) {
    if (tokens.side == side) return tokens.pieces;
  }
  return captured.tokens.front().pieces;
}

HeadStatistics numbers_of(const WeightMap& map) {
  HeadSums sums;
  sums.add(map);
  return sums.mean();
}

ordered_json rows_json(const WeightMap& map) {
  ordered_json rows = ordered_json::array();
  for (int64_t r = 0; r < map.rows; ++r) {
    ordered_json row = ordered_json::array();
    for (int64_t c = 0; c < map.columns; ++c) row.push_back(std::round(map.at(r, c) * 1e6) / 1e6);
    rows.push_back(std::move(row));
  }
  return rows;
}

/// All layers in the form of report.html (docs/report-data.md), which the page draws.
ordered_json all_layers(const CapturedExample& captured) {
  ordered_json layers = ordered_json::array();
  for (const CapturedLayer& layer : captured.layers) {
    if (layer.heads.empty()) continue;
    ordered_json heads = ordered_json::array();
    for (const WeightMap& map : layer.heads) {
      const HeadStatistics numbers = numbers_of(map);
      heads.push_back({{"weights", packed_matrix(map.weights, map.rows, map.columns)},
                       {"entropy", numbers.entropy},
                       {"distance", numbers.distance}});
    }
    layers.push_back({{"stack", choice_name(layer.stack)},
                      {"layer", layer.number},
                      {"attention", layer.attention},
                      {"rows", pieces_of(captured, row_side(layer.stack))},
                      {"columns", pieces_of(captured, column_side(layer.stack))},
                      {"heads", heads}});
  }
  return layers;
}

/// The one that the request names by side and number.
const CapturedLayer& chosen_layer(const CapturedExample& captured, AttentionPlace side, int64_t number) {
  std::vector<const CapturedLayer*> stack;
  for (const CapturedLayer& layer : captured.layers) {
    if (layer.stack == side) stack.push_back(&layer);
  }
  if (number >= static_cast<int64_t>(stack.size())) {
    throw ApiError(400,
                   fmt::format("'layer' is {}: the side {} has layers 0 to {}", number, choice_name(side),
                               stack.size() - 1),
                   "layer");
  }
  const CapturedLayer& layer = *stack[static_cast<size_t>(number)];
  if (layer.heads.empty()) {
    throw ApiError(400,
                   fmt::format("layer {} is {}, which has no attention weights: choose another", number,
                               layer.attention),
                   "layer");
  }
  return layer;
}

}  // namespace

HttpAnswer Api::score(const HttpRequest& request) {
  Fields fields(request.body);
  const std::string name = fields.text("model").value_or("");
  const Texts texts = fields.required_texts("text");
  const auto targets = fields.texts("target");
  fields.finish();
  const auto model = models_->find(name, [&](const ServedModel& one) { return can_score(one, targets); });
  check_texts(texts, "text");
  const bool paired = model->use() != "generate";
  if (paired && !targets)
    throw ApiError(400,
                   fmt::format("'target' is missing: '{}' scores a target given the text, its task is {}",
                               model->name(), model->task().recipe().task),
                   "target");
  if (!paired && targets) throw ApiError(400, "'target': a language model scores one text alone", "target");
  if (targets && targets->texts.size() != texts.texts.size())
    throw ApiError(400,
                   fmt::format("'target' has {} texts and 'text' {}: give as many", targets->texts.size(),
                               texts.texts.size()),
                   "target");
  const auto waiting = make_pending(texts.texts.size());
  auto found = std::make_shared<std::vector<Likelihood>>(texts.texts.size());
  std::vector<JobPtr> jobs;
  for (size_t n = 0; n < texts.texts.size(); ++n) {
    auto job = std::make_shared<CallJob>(waiting);
    const std::string target = targets ? targets->texts[n] : "";
    const Batch example = checked_example(*model, texts.texts[n], target, {texts.list, n});
    job->call = [found, model, n, example] { (*found)[n] = score_example(model->task(), example); };
    jobs.push_back(job);
  }
  engine_->submit(model, jobs);
  waiting->wait(request.connected);
  ordered_json results = ordered_json::array();
  for (const Likelihood& one : *found)
    results.push_back({{"log_probability", one.log_probability}, {"tokens", one.tokens}});
  return json_answer({{"model", model->name()}, {"results", results}});
}

HttpAnswer Api::attention(const HttpRequest& request) {
  Fields fields(request.body);
  const std::string name = fields.text("model").value_or("");
  const std::string text = fields.required_text("text"), target = fields.text("target").value_or("");
  const std::string side = fields.text("side").value_or("");
  const int64_t layer = fields.integer("layer", 0, 1000).value_or(0),
                head = fields.integer("head", 0, 1000).value_or(0);
  const bool all = fields.flag("all").value_or(false);
  fields.finish();
  const auto model =
      models_->find(name, [&](const ServedModel& one) { return can_show_attention(one, side, target); });
  const AttentionPlace place = chosen_side(*model, side);
  check_captured_text(*model, text, target);
  auto captured = std::make_shared<CapturedExample>();
  call(model, request.connected, [captured, model, text, target] {
    const GivenText given = example_of(model->task(), text, target);
    captured->layers = capture_attention(model->task(), given.example);
    captured->tokens = tokens_of(model->task(), given.example);
    captured->target = given.target;
  });
  if (all)
    return json_answer(
        {{"model", model->name()}, {"target", captured->target}, {"layers", all_layers(*captured)}});
  const CapturedLayer& chosen = chosen_layer(*captured, place, layer);
  if (head >= static_cast<int64_t>(chosen.heads.size())) {
    throw ApiError(
        400, fmt::format("'head' is {}: the layer has heads 0 to {}", head, chosen.heads.size() - 1), "head");
  }
  const WeightMap& map = chosen.heads[static_cast<size_t>(head)];
  ordered_json answer = {{"model", model->name()},
                         {"side", choice_name(place)},
                         {"layer", layer},
                         {"head", head},
                         {"attention", chosen.attention},
                         {"tokens", pieces_of(*captured, row_side(place))}};
  if (place == AttentionPlace::cross) answer["source_tokens"] = pieces_of(*captured, AttentionPlace::encoder);
  answer["weights"] = rows_json(map);
  answer["entropy"] = numbers_of(map).entropy;
  return json_answer(answer);
}

}  // namespace synthesizer::serve
