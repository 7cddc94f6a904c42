// POST /v1/completions as OpenAI's clients send it.

#include <fmt/format.h>

#include <chrono>
#include <random>

#include "serve/api.h"
#include "serve/error.h"
#include "task/language_modelling.h"

namespace synthesizer::serve {
namespace {

using nlohmann::ordered_json;

uint64_t random_number() {
  static std::mutex mutex;
  static std::mt19937_64 generator{std::random_device{}()};
  const std::lock_guard lock(mutex);
  return generator() >> 1;
}

struct Completion {
  std::string model, id = fmt::format("cmpl-{:016x}", random_number());
  int64_t created =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  bool echo = false;
  size_t prompt_tokens = 0;
  std::vector<std::string> prompts;  ///< of each choice
  std::vector<std::shared_ptr<GenerateJob>> jobs;

  ordered_json frame(const ordered_json& choices) const {
    return {{"id", id},
            {"object", "text_completion"},
            {"created", created},
            {"model", model},
            {"choices", choices}};
  }
  static ordered_json choice(size_t index, const std::string& text, const ordered_json& reason) {
    return {{"text", text}, {"index", index}, {"logprobs", nullptr}, {"finish_reason", reason}};
  }
  ordered_json reason(size_t n) const { return jobs[n]->ended ? "stop" : "length"; }
  ordered_json usage() const {
    size_t written = 0;
    for (const auto& job : jobs) written += job->text.drawn().size();
    return {{"prompt_tokens", prompt_tokens},
            {"completion_tokens", written},
            {"total_tokens", prompt_tokens + written}};
  }
};

/// Fields that clients send with their defaults and that we can only honour so.
void only(Fields& fields, const char* name, const ordered_json& allowed) {
  const auto value = fields.raw(name);
  if (!value.is_null() && value != nlohmann::json(allowed))
    throw ApiError(400,
                   fmt::format("'{}' is {}: this server supports {} only", name, value.dump().substr(0, 40),
                               allowed.dump()),
                   name);
}

std::vector<std::string> stops(Fields& fields) {
  const auto given = fields.texts("stop");
  if (!given) return {};
  if (given->texts.size() > 4) throw ApiError(400, "'stop' has more than 4 texts", "stop");
  for (const std::string& stop : given->texts) {
    if (stop.empty()) throw ApiError(400, "'stop' has an empty text: leave it out", "stop");
  }
  return given->texts;
}

/// {"include_usage": true} and the like.
bool usage_wanted(const nlohmann::json& stream_options) {
  if (!stream_options.is_object() || !stream_options.contains("include_usage")) return false;
  const auto& wanted = stream_options["include_usage"];
  if (!wanted.is_boolean())
    throw ApiError(400, "'stream_options.include_usage' must be true or false", "stream_options");
  return wanted.get<bool>();
}

/// The choices one after another, each as it is written.
void send_all(const Completion& completion, const Connected& connected, bool with_usage,
              const SendEvent& send) {
  for (size_t n = 0; n < completion.jobs.size(); ++n) {
    auto chunk = [&](const std::string& text, const ordered_json& reason) {
      send(completion.frame(ordered_json::array({Completion::choice(n, text, reason)})));
    };
    if (completion.echo) chunk(completion.prompts[n], nullptr);
    while (const auto piece = completion.jobs[n]->pending->next(connected)) chunk(*piece, nullptr);
    chunk("", completion.reason(n));
  }
  if (with_usage) {
    auto last = completion.frame(ordered_json::array());
    last["usage"] = completion.usage();
    send(last);
  }
}

/// The choices together, once all are written.
ordered_json whole(const Completion& completion, const Connected& connected) {
  ordered_json choices = ordered_json::array();
  for (size_t n = 0; n < completion.jobs.size(); ++n) {
    completion.jobs[n]->pending->wait(connected);
    const std::string text = (completion.echo ? completion.prompts[n] : "") + completion.jobs[n]->result;
    choices.push_back(Completion::choice(n, text, completion.reason(n)));
  }
  auto result = completion.frame(choices);
  result["usage"] = completion.usage();
  return result;
}

/// Does something with the answers of all jobs; where it fails, the jobs are given up.
template <class Call>
auto or_give_up(const Completion& completion, const Call& call) {
  try {
    return call();
  } catch (...) {
    for (const auto& job : completion.jobs) job->pending->cancel();
    throw;
  }
}

}  // namespace

HttpAnswer Api::completions(const HttpRequest& request) {
  Fields fields(request.body);
  const auto model = models_->find(fields.required_text("model"), "generate");
  const auto prompt = fields.texts("prompt");
  const int64_t tokens = fields.integer("max_tokens", 0, options_.tokens).value_or(16);
  DecodeOptions options;
  options.temperature = fields.real("temperature", 0, 2).value_or(1);
  options.top_p = fields.real("top_p", 1e-9, 1).value_or(1);
  const auto seed = fields.integer("seed", 0, INT64_MAX);
  const int64_t count = fields.integer("n", 1, options_.lines).value_or(1);
  const bool stream = fields.flag("stream").value_or(false);
  const auto stop = stops(fields);
  const bool with_usage = usage_wanted(fields.raw("stream_options"));
  Completion completion;
  completion.echo = fields.flag("echo").value_or(false);
  completion.model = model->name();
  only(fields, "best_of", count);
  only(fields, "presence_penalty", 0);
  only(fields, "frequency_penalty", 0);
  only(fields, "logprobs", nullptr);
  only(fields, "suffix", nullptr);
  only(fields, "logit_bias", ordered_json::object());
  fields.raw("user");
  fields.finish();
  const Texts prompts = prompt.value_or(Texts{{""}, false});
  check_texts(prompts, "prompt");
  if (static_cast<int64_t>(prompts.texts.size()) * count > options_.lines)
    throw ApiError(413,
                   fmt::format("{} prompts times n = {} are more than {} texts (--lines)",
                               prompts.texts.size(), count, options_.lines),
                   "n");

  const auto& task = dynamic_cast<const LanguageModelTask&>(model->task());
  const TextNames names = {"prompt", prompts.list};
  std::vector<JobPtr> jobs;
  for (size_t p = 0; p < prompts.texts.size(); ++p) {
    const auto row = prompt_row(*model, prompts.texts[p], names.of(p));
    completion.prompt_tokens += row.size() - 1;
    for (int64_t n = 0; n < count; ++n) {
      options.seed = seed ? static_cast<uint64_t>(*seed) + static_cast<uint64_t>(n) : random_number();
      auto job = std::make_shared<GenerateJob>(
          make_pending(1),
          SampledText(row, tokens, task.end_token(), task.recipe().model.max_length, options));
      job->stream = stream;
      job->stop = stop;
      completion.prompts.push_back(prompts.texts[p]);
      completion.jobs.push_back(job);
      jobs.push_back(job);
    }
  }
  engine_->submit(model, jobs);
  if (stream) {
    return event_answer([completion, with_usage, connected = request.connected](const SendEvent& send) {
      or_give_up(completion, [&] { send_all(completion, connected, with_usage, send); });
    });
  }
  return json_answer(or_give_up(completion, [&] { return whole(completion, request.connected); }));
}

}  // namespace synthesizer::serve
