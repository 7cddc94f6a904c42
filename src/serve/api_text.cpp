// POST /v1/translate, /v1/generate, /v1/classify.

#include <fmt/format.h>

#include <random>

#include "base/error.h"
#include "serve/api.h"
#include "serve/error.h"
#include "task/language_modelling.h"
#include "task/sequence_task.h"

namespace synthesizer::serve {
namespace {

using nlohmann::ordered_json;

constexpr int64_t kMostBeams = 64;
constexpr const char* kTruncateAdvice = ", or send \"too_long\": \"truncate\"";

DecodeOptions search_options(Fields& fields, const DecodeOptions& of_the_recipe, int64_t most_tokens) {
  DecodeOptions o = of_the_recipe;
  o.beam = fields.integer("beam", 1, kMostBeams).value_or(o.beam);
  o.nbest = fields.integer("nbest", 1, kMostBeams).value_or(1);
  o.length_penalty = fields.real("length_penalty", -10, 10).value_or(o.length_penalty);
  o.max_length = fields.integer("max_length", 1, most_tokens).value_or(o.max_length);
  if (o.nbest > o.beam)
    throw ApiError(
        400,
        fmt::format("'nbest' is {} and 'beam' {}: a beam finds no more than its size, raise 'beam'", o.nbest,
                    o.beam),
        "nbest");
  return o;
}

/// The field "too_long": true where long texts are to be cut, false where they are refused.
bool cuts_long_texts(Fields& fields) {
  const std::string choice = fields.text("too_long").value_or("error");
  if (choice != "error" && choice != "truncate")
    throw ApiError(400, "'too_long' must be \"error\" or \"truncate\"", "too_long");
  return choice == "truncate";
}

ordered_json result_json(const std::vector<Translation>& best, int64_t nbest) {
  ordered_json result = {{"text", best.front().text}, {"score", best.front().score}};
  if (nbest > 1) {
    result["nbest"] = ordered_json::array();
    for (const Translation& one : best) result["nbest"].push_back({{"text", one.text}, {"score", one.score}});
  }
  return result;
}

/// Pieces of one text as server-sent events {"text"}, then `last`.
HttpAnswer streamed(const std::shared_ptr<PendingRequest>& pending, const Connected& connected,
                    std::function<ordered_json()> last) {
  return event_answer([pending, connected, last = std::move(last)](const SendEvent& send) {
    try {
      while (const auto piece = pending->next(connected)) send({{"text", *piece}});
      send(last());
    } catch (...) {
      pending->cancel();
      throw;
    }
  });
}

}  // namespace

std::vector<std::shared_ptr<TranslateJob>> Api::translate_jobs(
    const ServedModel& model, const std::vector<std::string>& lines, const DecodeOptions& options,
    const LineRules& rules, const std::shared_ptr<PendingRequest>& pending) const {
  const auto& task = dynamic_cast<const SequenceTask&>(model.task());
  std::vector<std::shared_ptr<TranslateJob>> jobs;
  for (size_t n = 0; n < lines.size(); ++n) {
    model.check_line(lines[n], rules.names.of(n), rules.field);
    std::vector<std::string> remarks;
    auto job = std::make_shared<TranslateJob>(pending);
    job->source = task.source_row(lines[n], LongLine::truncate, static_cast<int64_t>(n), remarks);
    if (!remarks.empty() && !rules.truncate) {
      throw ApiError(413,
                     fmt::format("{} is longer than the {} tokens that '{}' takes: shorten it{}",
                                 rules.names.of(n), job->source.size() - 1, model.name(), rules.advice),
                     rules.field);
    }
    job->options = options;
    jobs.push_back(job->source.size() > 1 ? job : nullptr);  // only the end: the line is empty
  }
  return jobs;
}

std::vector<std::vector<Translation>> Api::translated(const std::shared_ptr<ServedModel>& model,
                                                      const std::vector<std::string>& lines,
                                                      const DecodeOptions& options, const LineRules& rules,
                                                      const Connected& connected) {
  const auto jobs = translate_jobs(*model, lines, options, rules, nullptr);
  std::vector<JobPtr> real;
  for (const auto& job : jobs) {
    if (job) real.push_back(job);
  }
  const auto waiting = make_pending(real.size());
  for (const JobPtr& job : real) job->pending = waiting;
  if (!real.empty()) engine_->submit(model, real);
  waiting->wait(connected);
  std::vector<std::vector<Translation>> results;
  for (const auto& job : jobs) results.push_back(job ? job->result : std::vector<Translation>{Translation{}});
  return results;
}

HttpAnswer Api::translate(const HttpRequest& request) {
  Fields fields(request.body);
  const auto model = models_->find(fields.text("model").value_or(""), "translate");
  const Texts texts = fields.required_texts("text");
  const DecodeOptions options = search_options(fields, model->task().recipe().decode, options_.tokens);
  const LineRules rules = {"text", {"text", texts.list}, kTruncateAdvice, cuts_long_texts(fields)};
  const bool stream = fields.flag("stream").value_or(false);
  fields.finish();
  check_texts(texts, "text");
  if (stream) {
    if (texts.list || options.beam != 1)
      throw ApiError(400, "only one text with \"beam\": 1 can be streamed: a beam decides at its end",
                     "stream");
    const auto waiting = make_pending(1);
    const auto job = translate_jobs(*model, texts.texts, options, rules, waiting).front();
    if (job) {
      job->stream = true;
      engine_->submit(model, {job});
    } else {
      waiting->finish_one();
    }
    return streamed(waiting, request.connected, [job, model]() -> ordered_json {
      return {{"model", model->name()},
              {"score", job ? job->result.front().score : 0},
              {"finish_reason", "stop"}};
    });
  }
  ordered_json results = ordered_json::array();
  for (const auto& best : translated(model, texts.texts, options, rules, request.connected))
    results.push_back(result_json(best, options.nbest));
  return json_answer({{"model", model->name()}, {"results", results}});
}

std::vector<int64_t> Api::prompt_row(const ServedModel& model, const std::string& prompt,
                                     const std::string& name) const {
  auto row = dynamic_cast<const LanguageModelTask&>(model.task()).prompt_row(prompt);
  const size_t tokens = row.size() - 1;  // without the begin
  if (static_cast<int64_t>(tokens) > options_.tokens) {
    throw ApiError(413,
                   fmt::format("{} has {} tokens, and the server takes {} (--tokens): shorten it", name,
                               tokens, options_.tokens),
                   "prompt");
  }
  return row;
}

HttpAnswer Api::generate(const HttpRequest& request) {
  Fields fields(request.body);
  const auto model = models_->find(fields.text("model").value_or(""), "generate");
  const std::string prompt = fields.text("prompt").value_or("");
  const int64_t tokens =
      fields.integer("tokens", 0, options_.tokens).value_or(std::min<int64_t>(200, options_.tokens));
  DecodeOptions options;
  options.temperature = fields.real("temperature", 0, 100).value_or(options.temperature);
  options.top_k = fields.integer("top_k", 0, INT32_MAX).value_or(options.top_k);
  options.top_p = fields.real("top_p", 1e-9, 1).value_or(options.top_p);
  options.seed = static_cast<uint64_t>(fields.integer("seed", 0, INT64_MAX).value_or(1));
  const bool stream = fields.flag("stream").value_or(false);
  fields.finish();
  const auto& task = dynamic_cast<const LanguageModelTask&>(model->task());
  SampledText text(prompt_row(*model, prompt, "the prompt"), tokens, task.end_token(),
                   task.recipe().model.max_length, options);
  auto job = std::make_shared<GenerateJob>(make_pending(1), std::move(text));
  job->stream = stream;
  engine_->submit(model, {job});
  auto facts = [job, model]() -> ordered_json {
    return {{"tokens", job->text.drawn().size()}, {"finish_reason", job->ended ? "stop" : "length"}};
  };
  if (stream) {
    return streamed(job->pending, request.connected, [facts, model] {
      ordered_json last = {{"model", model->name()}};
      last.update(facts());
      return last;
    });
  }
  job->pending->wait(request.connected);
  ordered_json result = {{"model", model->name()}, {"text", job->result}};
  result.update(facts());
  return json_answer(result);
}

HttpAnswer Api::classify(const HttpRequest& request) {
  Fields fields(request.body);
  const auto model = models_->find(fields.text("model").value_or(""), "classify");
  const Texts texts = fields.required_texts("text");
  const bool truncate = cuts_long_texts(fields);
  fields.finish();
  check_texts(texts, "text");
  const auto& labels = dynamic_cast<const TextClassifier&>(model->task()).labels();
  const TextNames names = {"text", texts.list};
  for (size_t n = 0; !truncate && n < texts.texts.size(); ++n) {
    try {
      model->task().batch_of({texts.texts[n], labels.front()});
    } catch (const InvalidInput& too_long) {
      throw ApiError(413, names.message(n, too_long.what()) + kTruncateAdvice, "text");
    }
  }
  const auto waiting = make_pending(texts.texts.size());
  std::vector<JobPtr> jobs;
  for (const std::string& text : texts.texts) {
    auto job = std::make_shared<ClassifyJob>(waiting);
    job->text = text;
    jobs.push_back(job);
  }
  engine_->submit(model, jobs);
  waiting->wait(request.connected);
  ordered_json results = ordered_json::array();
  for (const JobPtr& job : jobs) {
    const ClassificationResult& found = static_cast<const ClassifyJob&>(*job).result;
    ordered_json probabilities = ordered_json::object();
    for (size_t n = 0; n < labels.size(); ++n) probabilities[labels[n]] = found.probabilities[n];
    results.push_back({{"label", found.label}, {"probabilities", probabilities}});
  }
  return json_answer({{"model", model->name()}, {"results", results}});
}

}  // namespace synthesizer::serve
