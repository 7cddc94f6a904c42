#include "inspect/new_run.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/nn/module.h>
#include <torch/version.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/version.h"
#include "run/metrics_log.h"
#include "run/provenance.h"
#include "train/checkpoint.h"

namespace synthesizer {

namespace fs = std::filesystem;

void check_does_not_exist(const std::string& folder) {
  if (folder.empty()) invalid("--run is missing: name the folder of the new run");
  if (!fs::exists(folder) || (fs::is_directory(folder) && fs::is_empty(folder))) return;
  invalid(fmt::format("{} exists already: choose another --run, or delete it", folder));
}

void write_new_run(const std::string& path, Task& task, const Derivation& from, const Scores& dev) {
  const RunFolder folder{path};
  Provenance record(from.command, version(), commit(), TORCH_VERSION, at::get_num_threads(), {});
  const std::string other = fs::absolute(from.run).lexically_normal().string();
  record.made_from = {from.how, without_home(other)};
  fs::create_directories(path);
  save_tokenizers(path, task.tokenizers());
  save_weights(folder.model(), task.model(), 0, {{"tokenizer", task.tokenizers().hash()}});
  write_file(folder.record(), record.json().dump(2) + "\n");
  if (!dev.empty()) MetricsLog(folder.metrics()).add(0, "dev", dev);
  write_file(folder.config(), to_toml(task.recipe()));  // last: a folder with one is a run
}

bool is_derived_run(const RunFolder& folder) {
  return read_provenance(folder.record()).made_from.has_value();
}

}  // namespace synthesizer
