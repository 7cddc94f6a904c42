#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "serve/job.h"
#include "serve/metrics.h"
#include "serve/served_model.h"

namespace synthesizer::serve {

/// The inference threads of a server and the queue before them.
///
/// The queue is bounded over all models: a request that finds it full is refused at once. Each thread takes a
/// model that has work, does one bounded piece of it (one step for all its texts) and goes to the next, so
/// that models share the cores fairly and no two threads work for one model at a time.
class Engine {
 public:
  Engine(int64_t threads, int64_t queue, Metrics& metrics);
  ~Engine();  ///< gives up what is left
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// All of the jobs, or none: throws ApiError 429 where `queue` jobs wait already, 503 after stop(). A
  /// request that finds fewer waiting is taken whole, however many jobs it has: large requests are not
  /// refused more often than small ones. The model stays alive until its jobs are done.
  void submit(const std::shared_ptr<ServedModel>& model, const std::vector<JobPtr>& jobs);

  /// Takes no more jobs, ends the threads, and fails what has not been done.
  void stop();

 private:
  void run();
  /// A model with work that no thread is at, or none; they take turns.
  std::shared_ptr<ServedModel> next();
  size_t waiting() const;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<ServedModel>> models_;  ///< those with work
  size_t turn_ = 0;
  size_t queue_;
  bool stopping_ = false;
  Metrics* metrics_;
  std::vector<std::thread> threads_;
};

}  // namespace synthesizer::serve
