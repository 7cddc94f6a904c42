#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "serve/job.h"
#include "serve/metrics.h"

namespace synthesizer {
class Task;
}

namespace synthesizer::serve {

/// The work of one model: jobs that wait, and jobs that are being worked on together. The engine calls it
/// from one thread at a time.
///
/// admit() is called with the engine's lock held and must be quick: it takes waiting jobs over. advance() is
/// called without the lock and does one bounded piece of work: one decoding step for all texts that are under
/// way, or one batch.
class Batcher {
 public:
  Batcher(int64_t batch, Metrics& metrics) : batch_(batch), metrics_(&metrics) {}
  virtual ~Batcher() = default;

  // With the engine's lock.
  void put(JobPtr job) { waiting_.push_back(std::move(job)); }
  size_t waiting() const { return waiting_.size(); }
  bool has_work() const { return !waiting_.empty() || under_way(); }
  void admit();
  bool taken = false;  ///< a thread of the engine is at it

  // Without.
  void advance();
  /// Fails all jobs: the server ends.
  void abandon();

 protected:
  /// Takes jobs over from those that wait (take()).
  virtual void choose() = 0;
  virtual void work() = 0;
  virtual bool under_way() const = 0;
  /// Gives up all jobs that it has taken.
  virtual void fail_all(const std::exception_ptr& reason) = 0;

  /// Calls keep(job) for waiting jobs in their order; takes those for which it is true out of the queue.
  void take(const std::function<bool(const JobPtr&)>& keep);
  /// True where nobody wants the job any more; it has been told so.
  bool given_up(Job& job) const;

  int64_t batch() const { return batch_; }
  Metrics& metrics() const { return *metrics_; }

 private:
  std::deque<JobPtr> waiting_;
  std::vector<std::shared_ptr<CallJob>> calls_;
  int64_t batch_;
  Metrics* metrics_;
};

/// The batcher for a task: by what it is (SequenceTask, LanguageModelTask, ClassificationTask).
std::unique_ptr<Batcher> make_batcher(Task& task, int64_t batch, Metrics& metrics);

}  // namespace synthesizer::serve
