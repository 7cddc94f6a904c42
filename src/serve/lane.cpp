#include "serve/lane.h"

#include "serve/classification_lane.h"
#include "serve/error.h"
#include "serve/generation_lane.h"
#include "serve/translation_lane.h"

namespace synthesizer::serve {

bool Lane::given_up(Job& job) const {
  if (job.ticket->cancelled()) {
    ++metrics().cancelled;
    job.ticket->fail(std::make_exception_ptr(Disconnected()));
    return true;
  }
  if (!job.ticket->late(Clock::now())) return false;
  ++metrics().timed_out;
  job.ticket->fail(std::make_exception_ptr(
      ApiError(503, "the request took longer than the server allows (--timeout): send less text, or later")));
  return true;
}

void Lane::take(const std::function<bool(const JobPtr&)>& keep) {
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

void Lane::admit() {
  std::erase_if(waiting_, [&](const JobPtr& job) { return given_up(*job); });
  take([&](const JobPtr& job) {
    auto call = std::dynamic_pointer_cast<CallJob>(job);
    if (!call || !calls_.empty()) return false;  // one at a time, between the steps of the others
    calls_.push_back(std::move(call));
    return true;
  });
  choose();
}

void Lane::abandon() {
  const auto reason =
      std::make_exception_ptr(ApiError(503, "the server is shutting down: send the request to another one"));
  for (const JobPtr& job : waiting_) job->ticket->fail(reason);
  for (const auto& call : calls_) call->ticket->fail(reason);
  waiting_.clear();
  calls_.clear();
  fail_all(reason);
}

void Lane::advance() {
  for (const auto& call : calls_) {
    try {
      call->call();
      call->ticket->finish_one();
    } catch (...) {
      call->ticket->fail(std::current_exception());
    }
  }
  calls_.clear();
  try {
    work();
  } catch (...) {
    fail_all(std::current_exception());
  }
}

std::unique_ptr<Lane> make_lane(Task& task, int64_t batch, Metrics& metrics) {
  if (auto* sequence = dynamic_cast<SequenceTask*>(&task))
    return std::make_unique<TranslationLane>(*sequence, batch, metrics);
  if (auto* language = dynamic_cast<LanguageModelTask*>(&task))
    return std::make_unique<GenerationLane>(*language, batch, metrics);
  return std::make_unique<ClassificationLane>(task, batch, metrics);
}

}  // namespace synthesizer::serve
