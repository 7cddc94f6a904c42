#include "serve/batcher.h"

#include "serve/classification_batcher.h"
#include "serve/error.h"
#include "serve/generation_batcher.h"
#include "serve/translation_batcher.h"

namespace synthesizer::serve {

bool Batcher::given_up(Job& job) const {
  // A request that is late cancels its jobs, too.
  if (job.pending->late(Clock::now())) {
    ++metrics().timed_out;
    job.pending->fail(std::make_exception_ptr(too_late()));
    return true;
  }
  if (!job.pending->cancelled()) return false;
  ++metrics().cancelled;
  job.pending->fail(std::make_exception_ptr(Disconnected()));
  return true;
}

void Batcher::take(const std::function<bool(const JobPtr&)>& keep) {
  std::deque<JobPtr> left;
  for (JobPtr& job : waiting_) {
    const bool taken = keep(job);
    if (!taken) {
      left.push_back(std::move(job));
      continue;
    }
    const std::chrono::duration<double> waited = Clock::now() - job->submitted;
    metrics().waited(waited.count());
  }
  waiting_ = std::move(left);
}

void Batcher::admit() {
  std::erase_if(waiting_, [&](const JobPtr& job) { return given_up(*job); });
  take([&](const JobPtr& job) {
    auto call = std::dynamic_pointer_cast<CallJob>(job);
    if (!call || !calls_.empty()) return false;  // one at a time, between the steps of the others
    calls_.push_back(std::move(call));
    return true;
  });
  choose();
}

void Batcher::abandon() {
  const auto reason =
      std::make_exception_ptr(ApiError(503, "the server is shutting down: send the request to another one"));
  for (const JobPtr& job : waiting_) job->pending->fail(reason);
  for (const auto& call : calls_) call->pending->fail(reason);
  waiting_.clear();
  calls_.clear();
  fail_all(reason);
}

void Batcher::advance() {
  for (const auto& call : calls_) {
    try {
      call->call();
      call->pending->finish_one();
    } catch (...) {
      call->pending->fail(std::current_exception());
    }
  }
  calls_.clear();
  try {
    work();
  } catch (...) {
    fail_all(std::current_exception());
  }
}

std::unique_ptr<Batcher> make_batcher(Task& task, int64_t batch, Metrics& metrics) {
  if (auto* sequence = dynamic_cast<SequenceTask*>(&task))
    return std::make_unique<TranslationBatcher>(*sequence, batch, metrics);
  if (auto* language = dynamic_cast<LanguageModelTask*>(&task))
    return std::make_unique<GenerationBatcher>(*language, batch, metrics);
  return std::make_unique<ClassificationBatcher>(task, batch, metrics);
}

}  // namespace synthesizer::serve
