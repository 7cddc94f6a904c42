#include "train/trainer.h"

#include <fmt/format.h>
#include <torch/nn/module.h>

#include <chrono>
#include <cmath>
#include <filesystem>

#include "runtime/memory.h"
#include "text/prefetch.h"
#include "train/diagnosis.h"
#include "train/event_file.h"
#include "train/metrics_log.h"
#include "train/progress.h"
#include "train/schedule.h"
#include "train/step.h"
#include "train/stop_signal.h"

namespace synthesizer {
namespace {

constexpr int64_t kBatchesAhead = 4;

/// What the lines of the log are averages of.
struct Interval {
  StepSums sums;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  void add(const StepSums& step) {
    sums.loss += step.loss;
    sums.nll += step.nll;
    sums.tokens += step.tokens;
    sums.correct += step.correct;
    sums.waited += step.waited;
    sums.gradient_norm = step.gradient_norm;  // of the last one
  }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
};

class Run {
 public:
  Run(const TrainingJob& job, const TrainOptions& options, const RunFolder& folder, bool resume, Share share)
      : job_(job),
        options_(options),
        folder_(folder),
        share_(share),
        stepper_(*job.model, options, job.width, job.seed, job.loss) {
    if (resume) state_ = load_state(folder.state(), *job.model, stepper_.optimizer());
    if (resume) MetricsLog::drop_after(folder.metrics(), state_.step);
    job.on_start();
    folder.remove_leftovers();
    std::filesystem::create_directories(folder.checkpoints());
  }

  Outcome go();

 private:
  void step(Prefetch& batches);
  [[noreturn]] void diverged(const NotFinite& found) const;
  void report(MetricsLog& log, EventFile& events);
  void validate(MetricsLog& log, EventFile& events, Progress& progress);
  void save();

  const TrainingJob& job_;
  const TrainOptions& options_;
  const RunFolder& folder_;
  Share share_;
  Stepper stepper_;
  TrainerState state_;
  Interval interval_;
  Scores scores_;
};

void Run::diverged(const NotFinite& found) const {
  const std::string bad = first_bad_tensor(*job_.model, [&] { stepper_.forward(found.batch); });
  const bool saved = std::filesystem::exists(folder_.state());
  throw std::runtime_error(fmt::format(
      "step {}: the {} is not a finite number; the first to go wrong was {}; the batch was {}; {}. A lower "
      "train.learning_rate, a longer train.warmup or train.clip may help",
      state_.step + 1, found.what(), bad, job_.batches->describe(found.batch),
      saved ? "the last checkpoint is untouched" : "nothing was saved yet"));
}

void Run::step(Prefetch& batches) {
  StepSums sums;
  try {
    sums = stepper_.step(state_.step + 1, [&] { return batches.next(); });
  } catch (const NotFinite& found) {
    diverged(found);
  }
  interval_.add(sums);
  state_.tokens += sums.tokens;
  ++state_.step;
}

void Run::report(MetricsLog& log, EventFile& events) {
  const auto tokens = static_cast<double>(interval_.sums.tokens);
  const double seconds = interval_.seconds();
  const Scores values = {{"loss", interval_.sums.nll / tokens},
                         {"objective", interval_.sums.loss / tokens},
                         {"accuracy", static_cast<double>(interval_.sums.correct) / tokens * 100},
                         {"learning_rate", learning_rate(options_, job_.width, state_.step)},
                         {"gradient_norm", interval_.sums.gradient_norm},
                         {"tokens_per_second", tokens / seconds},
                         {"data_wait", interval_.sums.waited / seconds},
                         {"seconds", state_.seconds},
                         {"peak_memory_bytes", peak_memory_bytes()}};
  log.add(state_.step, "train", values);
  if (job_.mixtures) log.add_rows(state_.step, "mixture", job_.mixtures());
  for (const auto& [key, value] : values) events.scalar("train/" + key, state_.step, value);
  events.flush();
  interval_ = {};
}

void Run::validate(MetricsLog& log, EventFile& events, Progress& progress) {
  scores_ = job_.validate();
  log.add(state_.step, "dev", scores_);
  double watched = std::numeric_limits<double>::quiet_NaN();
  std::string text = fmt::format("step {}: dev", state_.step);
  for (const auto& [key, value] : scores_) {
    events.scalar("dev/" + key, state_.step, value);
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
    save_weights(folder_.model(), *job_.model, state_.step, job_.metadata);
  } else if (any) {
    ++state_.worse;
  }
  progress.line(text + (better ? "  (best)" : ""));
  events.flush();
}

void Run::save() {
  if (!job_.validate || state_.best_step == 0)
    save_weights(folder_.model(), *job_.model, state_.step, job_.metadata);
  if (options_.keep > 0) {
    save_weights(folder_.checkpoint(state_.step), *job_.model, state_.step, job_.metadata);
    folder_.prune_checkpoints(options_.keep);
  }
  save_state(folder_.state(), *job_.model, stepper_.optimizer(), state_, job_.metadata);
}

Outcome Run::go() {
  const StopSignal stop;
  MetricsLog log(folder_.metrics());
  EventFile events(folder_.path, state_.step > 0 ? state_.step : -1);
  Progress progress(options_.steps, state_.step, job_.title);
  Prefetch batches(*job_.batches, state_.step * options_.accumulate * share_.processes + share_.rank,
                   share_.processes, kBatchesAhead);
  job_.model->train();
  int64_t saved = state_.step;
  auto out_of_patience = [&] { return options_.patience > 0 && state_.worse >= options_.patience; };
  while (state_.step < options_.steps && !stop.asked() && !out_of_patience()) {
    const auto begin = std::chrono::steady_clock::now();
    step(batches);
    state_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const bool last = state_.step == options_.steps, logged = last || state_.step % options_.log_every == 0;
    const double seconds = interval_.seconds(), tokens = static_cast<double>(interval_.sums.tokens);
    progress.update({.step = state_.step,
                     .loss = interval_.sums.nll / tokens,
                     .tokens_per_second = tokens / seconds,
                     .unit = job_.unit,
                     .seconds_left = state_.seconds / static_cast<double>(state_.step) *
                                     static_cast<double>(options_.steps - state_.step),
                     .learning_rate = learning_rate(options_, job_.width, state_.step),
                     .report = logged});
    if (logged) report(log, events);
    if (job_.validate && (last || state_.step % options_.eval_every == 0)) {
      validate(log, events, progress);
      interval_.begin = std::chrono::steady_clock::now();
    }
    if (last || state_.step % options_.save_every == 0) {
      save();
      saved = state_.step;
    }
  }
  if (saved != state_.step) save();
  progress.finish();
  const auto end = state_.step >= options_.steps ? Outcome::End::finished
                   : out_of_patience()           ? Outcome::End::patience
                                                 : Outcome::End::stopped;
  return {end, state_, scores_};
}

}  // namespace

Outcome train(const TrainingJob& job, const TrainOptions& options, const RunFolder& folder, bool resume,
              Share share) {
  return Run(job, options, folder, resume, share).go();
}

}  // namespace synthesizer
