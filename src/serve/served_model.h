#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "serve/lane.h"
#include "task/run.h"

namespace synthesizer::serve {

/// A pair of languages as LibreTranslate names them: "en" to "de".
struct LanguagePair {
  std::string source, target;
};

/// One run as it is served: the prepared task, which all threads share, and its lane in the engine. It lives
/// as long as somebody uses it: requests under way finish with the model they began with, also after a
/// reload.
class ServedModel {
 public:
  /// Opens the run. Throws InvalidInput where that cannot be done.
  ServedModel(const std::string& folder, const std::string& weights, int64_t batch, Metrics& metrics);

  const std::string& name() const { return name_; }
  const std::string& folder() const { return folder_; }
  Task& task() const { return *run_.task; }
  Lane& lane() const { return *lane_; }

  /// What it can do: "translate", "generate" or "classify".
  const std::string& use() const { return use_; }
  /// Of translation runs: the endings of the two training files, where they look like languages.
  const std::optional<LanguagePair>& languages() const { return languages_; }

  /// Its entry of GET /v1/models.
  nlohmann::ordered_json entry() const;

 private:
  std::string name_, folder_, use_;
  OpenRun run_;
  std::unique_ptr<Lane> lane_;
  std::optional<LanguagePair> languages_;
  int64_t created_ = 0, parameters_ = 0;
  bool quantized_ = false;
};

/// The last component of the folder's path, as a model is named.
std::string model_name(const std::string& folder);

}  // namespace synthesizer::serve
