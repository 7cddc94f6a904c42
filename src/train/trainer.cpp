#include "train/trainer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <torch/nn/module.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "base/folders.h"
#include "run/metrics_log.h"
#include "runtime/memory.h"
#include "text/prefetch.h"
#include "train/diagnosis.h"
#include "train/event_file.h"
#include "train/progress.h"
#include "train/schedule.h"
#include "train/step.h"
#include "train/stop_signal.h"

namespace synthesizer {
namespace {

constexpr int64_t kBatchesAhead = 4;

/// What the lines of the log are averages of, and how long it took.
class Interval {
 public:
  Interval() = default;
  explicit Interval(const IntervalSums& before) : sums_(before) {}

  void add(const StepSums& step) {
    sums_.loss += step.loss;
    sums_.nll += step.nll;
    sums_.tokens += step.tokens;
    sums_.correct += step.correct;
    sums_.ponder += step.ponder;
    sums_.depth += step.depth;
    sums_.waited += step.waited;
    sums_.gradient_norm = step.gradient_norm;  // of the last one
  }
  /// Up to now.
  IntervalSums sums() const {
    IntervalSums now = sums_;
    now.seconds += since_begin();
    return now;
  }
  /// What is done between the two calls does not count.
  void pause() { sums_.seconds += since_begin(); }
  void go_on() { begin_ = std::chrono::steady_clock::now(); }

 private:
  double since_begin() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  IntervalSums sums_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// What people see of a run while it trains; only one process has it.
struct Records {
  MetricsLog log;
  EventFile events;
  Progress progress;
};

/// A folder that may be deleted while it is used, and another made in its place: what belongs to the first
/// must not be written into the second. It is kept open, so that its number is not given to another.
class Place {
 public:
  explicit Place(std::string path)
      : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}
  ~Place() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  /// Throws where the folder is not the one it was.
  void check() const {
    struct stat opened = {}, named = {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &opened) != 0) return;  // nothing to compare with
    if (::stat(path_.c_str(), &named) == 0 && opened.st_dev == named.st_dev && opened.st_ino == named.st_ino)
      return;
    throw std::runtime_error(
        fmt::format("{} was deleted or replaced while it was trained: nothing more is written to it", path_));
  }

 private:
  std::string path_;
  int descriptor_;
};

class Run {
 public:
  Run(const TrainingJob& job, const TrainOptions& options, const RunFolder& folder, bool resume,
      ProcessGroup* group)
      : job_(job),
        options_(options),
        folder_(folder),
        group_(group),
        resumed_(resume),
        stepper_(*job.model, options, job.width, job.seed, job.loss, group) {
    if (resume && writes()) state_ = load_state(folder.state(), *job.model, stepper_.optimizer());
    if (resume && !writes()) receive_state(stepper_.optimizer());
    if (group) take_first_state();
    interval_ = Interval(state_.interval);
    state_.step_batches = options.accumulate * size_of(group);
    if (!writes()) return;
    if (resume) MetricsLog::drop_after(folder.metrics(), state_.step);
    job.on_start(state_.step);
    folder.remove_leftovers();
    make_folders(folder.checkpoints());
    place_.emplace(folder.path);
  }

  Outcome go();

 private:
  bool writes() const { return rank_of(group_) == 0; }
  /// Weights, optimizer and position of rank 0.
  void take_first_state();
  void step(Prefetch& batches, const StopSignal& stop);
  [[noreturn]] void diverged(const NotFinite& found) const;
  void show(Progress& progress, bool logged) const;
  void report(Records& records);
  void validate(Records* records);
  void save_model() const;
  void save();

  const TrainingJob& job_;
  const TrainOptions& options_;
  const RunFolder& folder_;
  ProcessGroup* group_;
  bool resumed_;
  Stepper stepper_;
  TrainerState state_;
  Interval interval_;
  Scores scores_;
  std::optional<Place> place_;  ///< of the folder, where this process writes
  bool stop_ = false;           ///< one of the processes was asked to
};

void Run::take_first_state() {
  std::vector<at::Tensor> tensors;
  for (const NamedTensor& one : saved_tensors(*job_.model)) tensors.push_back(one.tensor);
  if (!stepper_.optimizer().divided()) {
    for (const NamedTensor& one : stepper_.optimizer().state()) tensors.push_back(one.tensor);
  }
  group_->broadcast(tensors);
  // The processes are of one build, which they have made sure of.
  static_assert(std::is_trivially_copyable_v<TrainerState>);
  std::string bytes(reinterpret_cast<const char*>(&state_), sizeof state_);
  bytes = group_->broadcast(bytes);
  std::memcpy(&state_, bytes.data(), sizeof state_);
}

void Run::diverged(const NotFinite& found) const {
  std::string message;
  if (found.own) {
    const std::string bad = find_nonfinite_tensor(*job_.model, [&] { stepper_.forward(found.batch); });
    const bool saved = std::filesystem::exists(folder_.state());
    message = fmt::format(
        "step {}: the {} is not a finite number; the first to go wrong was {}; the batch was {}; {}. A lower "
        "train.learning_rate, a longer train.warmup or train.clip may help",
        state_.step + 1, found.what(), bad, job_.batches->describe(found.batch),
        saved ? "the last checkpoint is untouched" : "nothing was saved yet");
  }
  if (!group_) throw std::runtime_error(message);
  // All end with what the first of them found.
  const auto messages = group_->gather(message);
  const auto first =
      std::find_if(messages.begin(), messages.end(), [](const auto& one) { return !one.empty(); });
  throw std::runtime_error(fmt::format("rank {}: {}", first - messages.begin(), *first));
}

void Run::step(Prefetch& batches, const StopSignal& stop) {
  StepSums sums;
  try {
    sums = stepper_.step(
        state_.step + 1, [&] { return batches.next(); }, [&] { return stop.requested(); });
  } catch (const NotFinite& found) {
    diverged(found);
  }
  interval_.add(sums);
  stop_ = sums.stop;
  state_.tokens += sums.tokens;
  ++state_.step;
}

void Run::show(Progress& progress, bool logged) const {
  const IntervalSums sums = interval_.sums();
  const auto tokens = static_cast<double>(sums.tokens);
  progress.update({.step = state_.step,
                   .loss = sums.nll / tokens,
                   .tokens_per_second = tokens / sums.seconds,
                   .unit = job_.unit,
                   .seconds_left = state_.seconds / static_cast<double>(state_.step) *
                                   static_cast<double>(options_.steps - state_.step),
                   .learning_rate = learning_rate(options_, job_.width, state_.step),
                   .report = logged});
}

void Run::report(Records& records) {
  const IntervalSums sums = interval_.sums();
  const auto tokens = static_cast<double>(sums.tokens);
  Scores values = {{"loss", sums.nll / tokens},
                   {"objective", sums.loss / tokens},
                   {"accuracy", static_cast<double>(sums.correct) / tokens * 100},
                   {"learning_rate", learning_rate(options_, job_.width, state_.step)},
                   {"gradient_norm", sums.gradient_norm},
                   {"tokens_per_second", tokens / sums.seconds},
                   {"data_wait", sums.waited / sums.seconds},
                   {"seconds", state_.seconds},
                   {"peak_memory_bytes", peak_memory_bytes()}};
  if (sums.ponder > 0) {  // adaptive halting
    values.emplace_back("ponder", sums.ponder / tokens);
    values.emplace_back("depth", sums.depth / tokens);
  }
  records.log.add(state_.step, "train", values);
  if (job_.mixtures) records.log.add_rows(state_.step, "mixture", job_.mixtures());
  for (const auto& [key, value] : values) records.events.scalar("train/" + key, state_.step, value);
  records.events.flush();
}

void Run::validate(Records* records) {
  scores_ = job_.validate();
  if (records) records->log.add(state_.step, "dev", scores_);
  double watched = std::numeric_limits<double>::quiet_NaN();
  std::string text = fmt::format("step {}: dev", state_.step);
  for (const auto& [key, value] : scores_) {
    if (records) records->events.scalar("dev/" + key, state_.step, value);
    if (key == job_.watched) watched = value;
    if (!is_count(key)) text += fmt::format("  {} {:.4g}", key, value);
  }
  // A score that is not finite is neither the best nor a reason to stop before there is a best one.
  const bool any = state_.best_step > 0;
  const bool better = std::isfinite(watched) &&
                      (!any || (job_.higher_is_better ? watched > state_.best : watched < state_.best));
  if (better) {
    state_.best = watched;
    state_.best_step = state_.step;
    state_.worse = 0;
    if (records) save_model();
  } else if (any) {
    ++state_.worse;
  }
  if (!records) return;
  records->progress.line(text + (better ? "  (best)" : ""));
  records->events.flush();
}

void Run::save_model() const {
  place_->check();
  save_weights(folder_.model(), *job_.model, state_.step, job_.metadata);
}

// The state comes last: a run that is resumed from it makes the rest again. The log does not grow again, so
// that its lines up to there are made to last first.
void Run::save() {
  if (!writes()) return send_state(stepper_.optimizer());
  place_->check();
  sync_file(folder_.metrics());
  if (!job_.validate || state_.best_step == 0) save_model();
  if (options_.keep > 0) {
    save_weights(folder_.checkpoint(state_.step), *job_.model, state_.step, job_.metadata);
    folder_.prune_checkpoints(options_.keep);
  }
  state_.interval = interval_.sums();
  save_state(folder_.state(), *job_.model, stepper_.optimizer(), state_, job_.metadata);
}

Outcome Run::go() {
  const StopSignal stop;
  std::unique_ptr<Records> records;
  if (writes()) {
    records.reset(new Records{MetricsLog(folder_.metrics()),
                              EventFile(folder_.path, state_.step > 0 ? state_.step : -1),
                              Progress(options_.steps, state_.step, job_.title, stderr, job_.lines_only)});
  }
  Prefetch batches(*job_.batches, state_.step * state_.step_batches + rank_of(group_), size_of(group_),
                   kBatchesAhead);
  job_.model->train();
  interval_.go_on();
  int64_t saved = resumed_ ? state_.step : -1;  // the same in all processes; no steps are a run too
  auto out_of_patience = [&] { return options_.patience > 0 && state_.worse >= options_.patience; };
  auto stopped = [&] { return group_ ? stop_ : stop.requested(); };
  while (state_.step < options_.steps && !stopped() && !out_of_patience()) {
    const auto begin = std::chrono::steady_clock::now();
    step(batches, stop);
    state_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const bool last = state_.step == options_.steps, logged = last || state_.step % options_.log_every == 0;
    if (records) show(records->progress, logged);
    if (records && logged) report(*records);
    if (logged) interval_ = {};
    if (job_.validate && (last || state_.step % options_.eval_every == 0)) {
      interval_.pause();
      validate(records.get());
      interval_.go_on();
    }
    if (last || state_.step % options_.save_every == 0) {
      save();
      saved = state_.step;
    }
  }
  if (saved != state_.step) save();
  if (records) records->progress.finish();
  const auto end = state_.step >= options_.steps ? Outcome::End::finished
                   : out_of_patience()           ? Outcome::End::patience
                                                 : Outcome::End::stopped;
  return {end, state_, scores_};
}

}  // namespace

Outcome train(const TrainingJob& job, const TrainOptions& options, const RunFolder& folder, bool resume,
              ProcessGroup* group) {
  return Run(job, options, folder, resume, group).go();
}

}  // namespace synthesizer
