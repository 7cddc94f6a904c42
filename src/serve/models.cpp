#include "serve/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/nearest.h"
#include "runtime/threads.h"
#include "serve/error.h"

namespace synthesizer::serve {

Models::Models(const std::vector<NamedRun>& runs, const ServeOptions& options, Metrics& metrics)
    : weights_(options.weights), batch_(options.batch), metrics_(&metrics) {
  for (const NamedRun& run : runs)
    models_.push_back(std::make_shared<ServedModel>(run, weights_, batch_, metrics));
  metrics.models = static_cast<int64_t>(models_.size());
  release_team();  // from here on the engine's threads compute
}

std::vector<std::shared_ptr<ServedModel>> Models::all() const {
  const std::lock_guard lock(mutex_);
  return models_;
}

std::shared_ptr<ServedModel> Models::find(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& model : all()) {
    if (model->name() == name) return model;
    names.push_back(model->name());
  }
  throw ApiError(404,
                 fmt::format("no model '{}' is served here{} (GET /v1/models lists them)", name,
                             did_you_mean(name, names)),
                 "model");
}

std::shared_ptr<ServedModel> Models::find(const std::string& name, const std::string& use) const {
  static const std::map<std::string, std::string> paths = {
      {"translate", "/v1/translate"}, {"generate", "/v1/generate"}, {"classify", "/v1/classify"}};
  if (!name.empty()) {
    auto model = find(name);
    if (model->use() == use) return model;
    throw ApiError(400,
                   fmt::format("'{}' cannot {}, its task is {}: use {}", name, use,
                               model->task().recipe().task, paths.at(model->use())),
                   "model");
  }
  for (const auto& model : all()) {
    if (model->use() == use) return model;
  }
  throw ApiError(404, fmt::format("no model here can {}: GET /v1/models lists what is served", use), "model");
}

std::shared_ptr<ServedModel> Models::find(const std::string& name,
                                          const std::function<bool(const ServedModel&)>& can_answer) const {
  if (!name.empty()) return find(name);
  const auto models = all();
  const auto found =
      std::find_if(models.begin(), models.end(), [&](const auto& m) { return can_answer(*m); });
  return found == models.end() ? models.front() : *found;
}

std::vector<Models::Reloaded> Models::reload(const std::string& name) {
  const std::lock_guard one_at_a_time(reloading_);
  std::vector<Reloaded> results;
  for (const auto& model : all()) {
    if (!name.empty() && model->name() != name) continue;
    auto& result = results.emplace_back(Reloaded{model->name(), ""});
    try {
      auto fresh = std::make_shared<ServedModel>(model->source(), weights_, batch_, *metrics_);
      const std::lock_guard lock(mutex_);
      std::replace(models_.begin(), models_.end(), model, fresh);
      ++metrics_->reloads;
    } catch (const std::exception& failure) {
      result.error = failure.what();
    }
  }
  release_team();
  if (results.empty()) find(name);  // throws
  return results;
}

}  // namespace synthesizer::serve
