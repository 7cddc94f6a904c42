// POST /translate and GET /languages as LibreTranslate's clients send them.

#include <fmt/format.h>

#include <map>
#include <set>

#include "serve/api.h"
#include "serve/error.h"
#include "serve/form.h"
#include "task/sequence_task.h"

namespace synthesizer::serve {
namespace {

using nlohmann::ordered_json;

/// A run's two sides; "source" and "target" where its files do not say.
LanguagePair pair_of(const ServedModel& model) {
  return model.languages().value_or(LanguagePair{"source", "target"});
}

std::string language_name(const std::string& code) {
  static const std::map<std::string, std::string> names = {
      {"cs", "Czech"},    {"de", "German"},  {"en", "English"}, {"es", "Spanish"},    {"fi", "Finnish"},
      {"fr", "French"},   {"it", "Italian"}, {"nl", "Dutch"},   {"pl", "Polish"},     {"pt", "Portuguese"},
      {"ro", "Romanian"}, {"ru", "Russian"}, {"tr", "Turkish"}, {"vi", "Vietnamese"}, {"zh", "Chinese"}};
  const auto found = names.find(code);
  return found == names.end() ? code : found->second;
}

/// Other models of text to text (summaries, replies) have no languages to offer.
bool is_translation(const ServedModel& model) {
  return model.task().recipe().task == "translation";
}

std::shared_ptr<ServedModel> model_for(const Models& models, const std::string& name,
                                       const std::string& source, const std::string& target) {
  if (!name.empty()) {
    auto model = models.find(name, "translate");
    if (is_translation(*model)) return model;
    throw ApiError(400,
                   fmt::format("'{}' does not translate, its task is {}: use /v1/translate", name,
                               model->task().recipe().task),
                   "model");
  }
  for (const auto& model : models.all()) {
    if (!is_translation(*model)) continue;
    const LanguagePair pair = pair_of(*model);
    if ((source == "auto" || source == pair.source) && target == pair.target) return model;
  }
  throw ApiError(
      400,
      fmt::format("no model here translates {} to {}: GET /languages lists what is served", source, target),
      "target");
}

/// A text of several lines is translated line by line.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// `curl -d` sends JSON as a form, too.
bool is_form(const HttpRequest& request) {
  return request.content_type == "application/x-www-form-urlencoded" && !request.body.starts_with('{');
}

Fields fields_of(const HttpRequest& request) {
  return is_form(request) ? Fields(form_fields(request.body)) : Fields(request.body);
}

}  // namespace

std::string Api::libre_key(const HttpRequest& request) {
  try {
    return fields_of(request).text("api_key").value_or("");
  } catch (const ApiError&) {
    return "";
  }
}

HttpAnswer Api::libre_translate(const HttpRequest& request) {
  Fields fields = fields_of(request);
  fields.text("api_key");  // authorize() has checked it
  const Texts q = fields.required_texts("q");
  const std::string source = fields.required_text("source"), target = fields.required_text("target");
  const std::string format = fields.text("format").value_or("text");
  const std::string name = fields.text("model").value_or("");
  const bool form = is_form(request);
  const int64_t alternatives = form ? 0 : fields.integer("alternatives", 0, 16).value_or(0);
  if (form) fields.text("alternatives");
  fields.finish();
  if (format != "text") throw ApiError(400, "'format' must be \"text\": HTML is not supported", "format");
  const auto model = model_for(*models_, name, source, target);
  std::vector<std::string> all;
  std::vector<size_t> counts;
  for (const std::string& text : q.texts) {
    const auto lines = lines_of(text);
    counts.push_back(lines.size());
    all.insert(all.end(), lines.begin(), lines.end());
  }
  check_texts({all, true}, "q");
  DecodeOptions options = model->task().recipe().decode;
  options.nbest = 1;
  if (alternatives > 0) {
    options.nbest = alternatives + 1;
    options.beam = std::max(options.beam, options.nbest);
  }
  const TextNames names = {all.size() > 1 ? "line" : "text", all.size() > 1};
  const auto results = translated(model, all, options, {"q", names, "", false}, request.connected);
  ordered_json texts = ordered_json::array(), others = ordered_json::array();
  size_t line = 0;
  for (const size_t count : counts) {
    std::string text;
    ordered_json other = ordered_json::array();
    for (size_t n = 0; n < count; ++n, ++line) {
      text += (n > 0 ? "\n" : "") + results[line].front().text;
      for (size_t k = 1; count == 1 && k < results[line].size(); ++k) other.push_back(results[line][k].text);
    }
    texts.push_back(text);
    others.push_back(other);
  }
  ordered_json answer = {{"translatedText", q.list ? texts : texts[0]}};
  if (alternatives > 0) answer["alternatives"] = q.list ? others : others[0];
  return json_answer(answer);
}

HttpAnswer Api::libre_languages(const HttpRequest&) {
  std::map<std::string, std::set<std::string>> targets;
  for (const auto& model : models_->all()) {
    if (!is_translation(*model)) continue;
    const LanguagePair pair = pair_of(*model);
    targets[pair.source].insert(pair.target);
    targets[pair.target];
  }
  ordered_json languages = ordered_json::array();
  for (const auto& [code, into] : targets)
    languages.push_back({{"code", code}, {"name", language_name(code)}, {"targets", into}});
  return json_answer(languages);
}

}  // namespace synthesizer::serve
