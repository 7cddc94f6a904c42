#include "inspect/new_run.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/nn/module.h>
#include <torch/version.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/folders.h"
#include "base/version.h"
#include "run/metrics_log.h"
#include "run/provenance.h"
#include "run/run_lock.h"
#include "train/checkpoint.h"

namespace synthesizer {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void new_run_exists(const std::string& folder) {
  invalid(fmt::format("{} exists already: choose another --run, or delete it", folder));
}

}  // namespace

void check_does_not_exist(const std::string& folder) {
  if (folder.empty()) invalid("--run is missing: name the folder of the new run");
  if (!RunLock::free_for_new_run(folder)) new_run_exists(folder);
  check_no_file_in_the_way(folder);
}

void write_new_run(const std::string& path, Task& task, const Derivation& from, const Scores& dev) {
  const RunFolder folder{path};
  Provenance record(from.command, version(), commit(), TORCH_VERSION, at::get_num_threads(), {});
  const std::string other = fs::absolute(from.run).lexically_normal().string();
  record.made_from = {from.how, without_home(other)};
  const RunLock lock(path, from.command);
  if (!lock.folder_is_empty()) new_run_exists(path);  // another was faster
  try {
    save_tokenizers(path, task.tokenizers());
    save_weights(folder.model(), task.model(), 0, {{"tokenizer", task.tokenizers().hash()}});
    write_file(folder.record(), record.json().dump(2) + "\n");
    if (!dev.empty()) {
      MetricsLog(folder.metrics()).add(0, "dev", dev);
      sync_file(folder.metrics());
    }
    write_file(folder.config(), to_toml(task.recipe()));  // last: a folder with one is a run
  } catch (...) {
    lock.clear_folder();
    throw;
  }
}

bool is_derived_run(const RunFolder& folder) {
  return read_provenance(folder.record()).made_from.has_value();
}

}  // namespace synthesizer
