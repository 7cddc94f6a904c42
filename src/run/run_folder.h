#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace synthesizer {

/// The files of a run, by name. A run is a folder that people can read.
struct RunFolder {
  std::string path;

  std::string config() const { return path + "/config.toml"; }             ///< every value of the recipe
  std::string model() const { return path + "/model.safetensors"; }        ///< the best weights
  std::string averaged() const { return path + "/averaged.safetensors"; }  ///< what `synth average` makes
  std::string state() const { return path + "/train_state.safetensors"; }  ///< what a resumed run needs
  std::string metrics() const { return path + "/metrics.jsonl"; }
  std::string record() const { return path + "/run.json"; }             ///< how the run came to be
  std::string evaluation() const { return path + "/evaluation.json"; }  ///< what `synth compare` found
  std::string report() const { return path + "/report.html"; }
  std::string checkpoints() const { return path + "/checkpoints"; }
  std::string checkpoint(int64_t step) const;
  /// "best", "last" (in the state), "averaged", or a file of the user's.
  std::string weights(const std::string& name) const;

  /// Throws InvalidInput where there is no such folder, it holds no run, or the run's settings are not whole.
  void check_is_run() const;
  /// The steps there are checkpoints of, in order. Throws where their folder is there and cannot be read.
  std::vector<int64_t> checkpoint_steps() const;
  /// Deletes files that a kill has left half written, under their temporary names.
  void remove_leftovers() const;
  /// Keeps the newest `keep` and deletes the others.
  void prune_checkpoints(int64_t keep) const;
};

}  // namespace synthesizer
