#include "train/trainer.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <fmt/format.h>
#include <torch/nn/module.h>

#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <filesystem>

#include "text/permutation.h"
#include "text/prefetch.h"
#include "train/diagnosis.h"
#include "train/event_file.h"
#include "train/metrics_log.h"
#include "train/progress.h"
#include "train/schedule.h"
#include "train/stop_signal.h"

namespace synthesizer {
namespace {

constexpr int64_t kBatchesAhead = 4;

/// The most that this process has held at any time.
double peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;  // Linux counts in KiB
}

/// bfloat16 for what autocast lowers, for as long as it lives.
class Precision {
 public:
  explicit Precision(const std::string& name) : on_(name == "bfloat16") {
    if (!on_) return;
    at::autocast::increment_nesting();
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  }
  ~Precision() {
    if (!on_) return;
    at::autocast::set_autocast_enabled(at::kCPU, false);
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  }

 private:
  bool on_;
};

/// What the lines of the log are averages of.
struct Interval {
  double loss = 0, nll = 0;
  int64_t tokens = 0, correct = 0;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
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
        parameters_(trained_tensors(*job.model)),
        optimizer_(make_optimizer(options, parameters_)) {
    if (resume) state_ = load_state(folder.state(), *job.model, *optimizer_);
    if (resume) MetricsLog::drop_after(folder.metrics(), state_.step);
    job.on_start();
    folder.remove_leftovers();
    std::filesystem::create_directories(folder.checkpoints());
  }

  Outcome go();

 private:
  void step(Prefetch& batches);
  LossSum forward(const Batch& batch) const;
  /// Divides gradients by the number of tokens, clips them, and gives their norm.
  double finish_gradients(int64_t tokens) const;
  [[noreturn]] void diverged(const Batch& batch, const char* what) const;
  void report(MetricsLog& log, EventFile& events);
  void validate(MetricsLog& log, EventFile& events, Progress& progress);
  void save();

  const TrainingJob& job_;
  const TrainOptions& options_;
  const RunFolder& folder_;
  Share share_;
  NamedTensors parameters_;
  std::unique_ptr<Optimizer> optimizer_;
  TrainerState state_;
  Interval interval_;
  double gradient_norm_ = 0;
  Scores scores_;
};

LossSum Run::forward(const Batch& batch) const {
  at::manual_seed(mix(job_.seed, static_cast<uint64_t>(batch.sequence)));
  const Precision precision(options_.precision);
  return job_.loss(batch);
}

void Run::diverged(const Batch& batch, const char* what) const {
  const std::string bad = first_bad_tensor(*job_.model, [&] { forward(batch); });
  const bool saved = std::filesystem::exists(folder_.state());
  throw std::runtime_error(fmt::format(
      "step {}: the {} is not a finite number; the first to go wrong was {}; the batch was {}; {}. A lower "
      "train.learning_rate, a longer train.warmup or train.clip may help",
      state_.step + 1, what, bad, job_.batches->describe(batch),
      saved ? "the last checkpoint is untouched" : "nothing was saved yet"));
}

double Run::finish_gradients(int64_t tokens) const {
  std::vector<at::Tensor> gradients;
  for (const auto& [name, tensor] : parameters_) {
    if (tensor.grad().defined()) gradients.push_back(tensor.grad());
  }
  const double per_token = 1 / static_cast<double>(std::max<int64_t>(tokens, 1));
  const double norm = at::stack(at::_foreach_norm(gradients, 2)).norm().item<double>() * per_token;
  const double clipped = options_.clip > 0 && norm > options_.clip ? options_.clip / norm : 1;
  if (std::isfinite(norm)) at::_foreach_mul_(gradients, at::Scalar(per_token * clipped));
  return norm;
}

void Run::step(Prefetch& batches) {
  job_.model->zero_grad();
  int64_t tokens = 0;
  Batch batch;
  for (int64_t n = 0; n < options_.accumulate; ++n) {
    batch = batches.next();
    const LossSum sum = forward(batch);
    const auto loss = sum.loss.item<double>();
    if (!std::isfinite(loss)) diverged(batch, "loss");
    sum.loss.backward();
    tokens += sum.tokens;
    interval_.loss += loss;
    interval_.nll += sum.nll;
    interval_.tokens += sum.tokens;
    interval_.correct += sum.correct;
  }
  gradient_norm_ = finish_gradients(tokens);
  if (!std::isfinite(gradient_norm_)) diverged(batch, "gradient");
  optimizer_->step(learning_rate(options_, job_.width, state_.step + 1), state_.step + 1);
  state_.tokens += tokens;
  ++state_.step;
}

void Run::report(MetricsLog& log, EventFile& events) {
  const auto tokens = static_cast<double>(interval_.tokens);
  const double seconds = interval_.seconds();
  const Scores values = {{"loss", interval_.nll / tokens},
                         {"objective", interval_.loss / tokens},
                         {"accuracy", static_cast<double>(interval_.correct) / tokens * 100},
                         {"learning_rate", learning_rate(options_, job_.width, state_.step)},
                         {"gradient_norm", gradient_norm_},
                         {"tokens_per_second", tokens / seconds},
                         {"seconds", state_.seconds},
                         {"peak_memory_bytes", peak_memory_bytes()}};
  log.add(state_.step, "train", values);
  if (job_.mixtures) log.add_rows(state_.step, "mixture", job_.mixtures());
  for (const auto& [key, value] : values) events.scalar("train/" + key, state_.step, value);
  events.flush();
  interval_ = {};
}

void Run::validate(MetricsLog& log, EventFile& events, Progress& progress) {
  job_.model->eval();
  scores_ = job_.validate();
  job_.model->train();
  log.add(state_.step, "dev", scores_);
  double watched = std::numeric_limits<double>::quiet_NaN();
  std::string text = fmt::format("step {}: dev", state_.step);
  for (const auto& [key, value] : scores_) {
    events.scalar("dev/" + key, state_.step, value);
    if (key == job_.watched) watched = value;
    if (!is_count(key)) text += fmt::format("  {} {:.4g}", key, value);
  }
  const bool better =
      state_.best_step == 0 || (job_.higher_is_better ? watched > state_.best : watched < state_.best);
  if (better) {
    state_.best = watched;
    state_.best_step = state_.step;
    state_.worse = 0;
    save_weights(folder_.model(), *job_.model, state_.step, job_.metadata);
  } else {
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
  save_state(folder_.state(), *job_.model, *optimizer_, state_, job_.metadata);
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
    const double seconds = interval_.seconds(), tokens = static_cast<double>(interval_.tokens);
    progress.update({.step = state_.step,
                     .loss = interval_.nll / tokens,
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
