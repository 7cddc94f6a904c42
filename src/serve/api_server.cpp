// What a server says of itself: models, health, metrics, the page.

#include <fmt/format.h>

#include "serve/api.h"
#include "serve/error.h"
#include "serve/page_source.h"

namespace synthesizer::serve {

using nlohmann::ordered_json;

HttpAnswer Api::models(const HttpRequest& request) {
  const std::string prefix = "/v1/models/";
  if (request.path.starts_with(prefix))
    return json_answer(models_->find(request.path.substr(prefix.size()))->entry());
  ordered_json entries = ordered_json::array();
  for (const auto& model : models_->all()) entries.push_back(model->entry());
  const ordered_json limits = {
      {"tokens", options_.tokens}, {"lines", options_.lines}, {"body", options_.body}};
  return json_answer({{"object", "list"}, {"data", entries}, {"limits", limits}});
}

HttpAnswer Api::reload(const HttpRequest& request) {
  Fields fields(request.body.empty() ? "{}" : request.body);
  const std::string name = fields.text("model").value_or("");
  fields.finish();
  ordered_json results = ordered_json::array();
  std::string failures;
  for (const auto& one : models_->reload(name)) {
    if (one.error.empty()) {
      results.push_back({{"model", one.model}, {"reloaded", true}});
    } else {
      failures +=
          fmt::format("{}'{}' was not reloaded, the earlier one stays: {}", failures.empty() ? "" : "; ",
                      one.model, one.error.substr(0, one.error.find('\n')));
    }
  }
  if (failures.empty()) return json_answer({{"results", results}});
  if (!results.empty()) failures += fmt::format("; reloaded: {} of the others", results.size());
  throw ApiError(500, failures, "model");
}

HttpAnswer Api::health(const HttpRequest&) {
  return json_answer({{"status", "ok"}});
}

HttpAnswer Api::ready(const HttpRequest&) {
  if (draining_) throw ApiError(503, "the server is shutting down");
  return json_answer({{"status", "ready"}});
}

HttpAnswer Api::metrics(const HttpRequest&) {
  return {200, "text/plain; version=0.0.4; charset=utf-8", metrics_->text(), {}, {}};
}

HttpAnswer Api::page(const HttpRequest&) {
  return {200,
          "text/html; charset=utf-8",
          std::string(kServePage),
          // The page is one file: whatever would make it load or send something elsewhere is refused.
          {{"Content-Security-Policy",
            "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
            "img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'"},
           {"X-Content-Type-Options", "nosniff"},
           {"Cache-Control", "no-cache"}},
          {}};
}

}  // namespace synthesizer::serve
