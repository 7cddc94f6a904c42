#include "serve/classification_batcher.h"

#include <map>

#include "task/task.h"

namespace synthesizer::serve {

ClassificationBatcher::ClassificationBatcher(Task& task, int64_t batch, Metrics& metrics)
    : Batcher(batch, metrics), task_(&task), labeller_(dynamic_cast<TextClassifier*>(&task)) {}

void ClassificationBatcher::choose() {
  take([&](const JobPtr& job) {
    auto own = std::dynamic_pointer_cast<ClassifyJob>(job);
    if (!own || static_cast<int64_t>(chosen_.size()) == batch()) return false;
    chosen_.push_back(std::move(own));
    return true;
  });
}

void ClassificationBatcher::work() {
  std::erase_if(chosen_, [&](const auto& job) { return given_up(*job); });
  if (chosen_.empty()) return;
  std::map<size_t, std::vector<std::shared_ptr<ClassifyJob>>> of_length;
  for (const auto& job : chosen_) {
    const size_t tokens = task_->tokenizers().source->encode(job->text).size();
    metrics().input_tokens += tokens;
    of_length[tokens].push_back(job);
  }
  constexpr int64_t many = 1 << 20;  // tokens: what is of one length comes as one batch
  for (const auto& [length, jobs] : of_length) {
    std::vector<std::string> lines, remarks;
    for (const auto& job : jobs) lines.push_back(job->text);
    metrics().batch(static_cast<int64_t>(lines.size()));
    ++metrics().steps;
    // The API has refused what is too long, unless the request wants it cut.
    auto results = labeller_->classify(lines, many, LongLine::truncate, 1, remarks);
    for (size_t n = 0; n < jobs.size(); ++n) {
      jobs[n]->result = std::move(results[n]);
      jobs[n]->pending->finish_one();
      std::erase(chosen_, jobs[n]);
    }
  }
}

void ClassificationBatcher::fail_all(const std::exception_ptr& reason) {
  for (const auto& job : chosen_) job->pending->fail(reason);
  chosen_.clear();
}

}  // namespace synthesizer::serve
