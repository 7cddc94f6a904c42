#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "inspect/weight_map.h"
#include "serve/batcher.h"
#include "serve/run_list.h"
#include "task/run.h"

namespace synthesizer::serve {

/// A pair of languages as LibreTranslate names them: "en" to "de".
struct LanguagePair {
  std::string source, target;
};

/// One run as it is served: the prepared task, which all threads share, and its batcher in the engine. It
/// lives as long as somebody uses it: requests under way finish with the model they began with, also after a
/// reload.
class ServedModel {
 public:
  /// Opens the run. Throws InvalidInput where that cannot be done.
  ServedModel(const NamedRun& run, const std::string& weights, int64_t batch, Metrics& metrics);

  const std::string& name() const { return source_.name; }
  const NamedRun& source() const { return source_; }
  Task& task() const { return *run_.task; }
  Batcher& batcher() const { return *batcher_; }

  /// What it can do: "translate", "generate" or "classify".
  const std::string& use() const { return use_; }
  /// The sides that have attention weights to show, in the order in which a text passes them. Convolutions
  /// and Linformer have none.
  const std::vector<AttentionPlace>& sides() const { return sides_; }
  /// Of translation runs: the endings of the two training files, where they look like languages.
  const std::optional<LanguagePair>& languages() const { return languages_; }

  /// Throws ApiError 400 where it reads lines and the text has a line break. `name`: what the message calls
  /// the text; `field`: where it is in the request.
  void check_line(const std::string& text, const std::string& name, const char* field) const;

  /// Its entry of GET /v1/models.
  nlohmann::ordered_json entry() const;

 private:
  NamedRun source_;
  std::string use_;
  std::vector<AttentionPlace> sides_;
  OpenRun run_;
  std::unique_ptr<Batcher> batcher_;
  std::optional<LanguagePair> languages_;
  int64_t created_ = 0, parameters_ = 0;
  std::optional<Quantization> quantization_;
};

}  // namespace synthesizer::serve
