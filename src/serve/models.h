#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "serve/options.h"
#include "serve/served_model.h"

namespace synthesizer::serve {

/// The models of a server by name. Thread-safe: a reload replaces models one by one, and whoever holds the
/// earlier one goes on with it.
class Models {
 public:
  /// Opens all runs. Throws InvalidInput where one cannot be opened.
  Models(const std::vector<NamedRun>& runs, const ServeOptions& options, Metrics& metrics);

  /// In the order of the command line.
  std::vector<std::shared_ptr<ServedModel>> all() const;
  /// Throws ApiError 404, with the nearest name, where there is none of that name.
  std::shared_ptr<ServedModel> find(const std::string& name) const;
  /// The one that is named, or the first that can do that (ServedModel::use). Throws ApiError 400 where the
  /// named one cannot, 404 where none can.
  std::shared_ptr<ServedModel> find(const std::string& name, const std::string& use) const;
  /// The one that is named, or the first that can answer; where none can, the first of all, so that its
  /// refusal says what is missing.
  std::shared_ptr<ServedModel> find(const std::string& name,
                                    const std::function<bool(const ServedModel&)>& can_answer) const;

  /// What became of a run that was loaded again.
  struct Reloaded {
    std::string model, error;  ///< no error: it is replaced; otherwise the earlier one stays
  };
  /// Loads all runs again, or the one named. One reload at a time.
  std::vector<Reloaded> reload(const std::string& name = "");

 private:
  std::string weights_;
  int64_t batch_;
  Metrics* metrics_;
  std::mutex reloading_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<ServedModel>> models_;
};

}  // namespace synthesizer::serve
