#include "task/dry_run.h"

#include <fmt/format.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "runtime/memory.h"
#include "runtime/threads.h"
#include "task/data_files.h"
#include "task/initial_weights.h"
#include "task/registry.h"
#include "task/summary.h"
#include "train/step.h"

namespace synthesizer {
namespace {

constexpr int64_t kMostSteps = 10;
constexpr double kMostSeconds = 10;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

namespace fs = std::filesystem;

/// A cache of tokenized text that has what another one has, by symbolic links. What is added to it is gone
/// with this object, and the other stays as it is.
class TemporaryCache {
 public:
  explicit TemporaryCache(const std::string& other)
      : path_((fs::temp_directory_path() / "synth-dry-run-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr)
      throw std::runtime_error(fmt::format("{} cannot be made: {}", path_, std::strerror(errno)));
    link_all(other, path_, true);
  }
  ~TemporaryCache() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryCache(const TemporaryCache&) = delete;
  TemporaryCache& operator=(const TemporaryCache&) = delete;

  const std::string& path() const { return path_; }

 private:
  /// A folder of files that come one by one ("hashes", "tokenizers") is made anew and its files are linked; a
  /// store, which is one whole, is linked as one. What cannot be linked is made again.
  static void link_all(const fs::path& from, const fs::path& to, bool folders) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(from, ignored)) {
      const fs::path name = entry.path().filename(), link = to / name;
      if (folders && (name == "hashes" || name == "tokenizers")) {
        fs::create_directory(link, ignored);
        link_all(entry.path(), link, false);
      } else {
        fs::create_symlink(fs::absolute(entry.path()), link, ignored);
      }
    }
  }

  std::string path_;
};

}  // namespace

DryRun dry_run(const Recipe& given) {
  if (given.data.train.empty()) invalid("data.train is empty: name the files to learn from");
  Recipe recipe = given;
  if (const auto complete = find_task(recipe.task).complete) complete(recipe);
  const TemporaryCache cache(cache_folder(recipe));
  recipe.data.cache = cache.path();
  use_threads(recipe.train.threads > 0 ? recipe.train.threads : usable_cores());
  const auto task = initial_task(recipe, make_tokenizers(recipe));
  const auto training = task->open(recipe.data.train, true);
  const auto dev = recipe.data.dev.empty() ? nullptr : task->open(recipe.data.dev, false);
  load_initial_weights(*task);
  DryRun found;
  found.summary = summary(*task, *training, dev.get());
  found.unit = task->unit();

  Stepper stepper(task->model(), recipe.train, recipe.model.width, static_cast<uint64_t>(recipe.seed),
                  [&](const Batch& batch) { return task->loss(batch); });
  task->model().train();
  int64_t batch = 0;
  std::vector<double> times;
  double tokens = 0, all = 0;
  const int64_t steps = std::min(kMostSteps, std::max<int64_t>(recipe.train.steps, 1));
  for (int64_t step = 0; step <= steps && all < kMostSeconds; ++step) {
    const auto begin = std::chrono::steady_clock::now();
    const StepSums sums = stepper.step(step + 1, [&] { return training->batches->make(batch++); });
    if (step == 0) continue;  // it warms up
    times.push_back(seconds_since(begin));
    all += times.back();
    tokens += static_cast<double>(sums.tokens);
  }
  std::nth_element(times.begin(), times.begin() + static_cast<int64_t>(times.size() / 2), times.end());
  found.measured_steps = static_cast<int64_t>(times.size());
  found.seconds_per_step = times[times.size() / 2];
  found.tokens_per_second = tokens / all;
  found.peak_memory_bytes = peak_memory_bytes();
  found.seconds = found.seconds_per_step * static_cast<double>(recipe.train.steps);
  return found;
}

}  // namespace synthesizer
