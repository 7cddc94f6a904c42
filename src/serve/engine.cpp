#include "serve/engine.h"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>

#include "serve/error.h"

namespace synthesizer::serve {

Engine::Engine(int64_t threads, int64_t queue, Metrics& metrics)
    : queue_(static_cast<size_t>(queue)), metrics_(&metrics) {
  const int cores = at::get_num_threads();
  for (int64_t n = 0; n < threads; ++n) {
    threads_.emplace_back([this, cores] {
      at::set_num_threads(cores);  // a setting of each thread
      run();
    });
  }
}

Engine::~Engine() {
  stop();
}

size_t Engine::waiting() const {
  size_t sum = 0;
  for (const auto& model : models_) sum += model->batcher().waiting();
  return sum;
}

void Engine::submit(const std::shared_ptr<ServedModel>& model, const std::vector<JobPtr>& jobs) {
  const std::lock_guard lock(mutex_);
  if (stopping_) throw ApiError(503, "the server is shutting down: send the request to another one");
  if (waiting() >= queue_) {
    metrics_->rejected += jobs.size();
    ApiError full(429, fmt::format("the queue is full ({} texts): try again later", queue_));
    full.retry_after = 1;
    throw full;
  }
  for (const JobPtr& job : jobs) {
    job->submitted = Clock::now();
    model->batcher().put(job);
  }
  if (std::find(models_.begin(), models_.end(), model) == models_.end()) models_.push_back(model);
  metrics_->waiting = static_cast<int64_t>(waiting());
  changed_.notify_one();
}

std::shared_ptr<ServedModel> Engine::next() {
  for (size_t n = 0; n < models_.size(); ++n) {
    auto& model = models_[(turn_ + n) % models_.size()];
    if (model->batcher().taken || !model->batcher().has_work()) continue;
    turn_ = (turn_ + n + 1) % models_.size();
    return model;
  }
  return nullptr;
}

void Engine::run() {
  c10::NoGradGuard no_grad;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const auto model = next();
    if (!model) {
      changed_.wait(lock);
      continue;
    }
    Batcher& batcher = model->batcher();
    batcher.taken = true;
    batcher.admit();
    metrics_->waiting = static_cast<int64_t>(waiting());
    lock.unlock();
    const auto begin = Clock::now();
    batcher.advance();
    metrics_->engine_nanoseconds += static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count());
    lock.lock();
    batcher.taken = false;
    if (batcher.has_work()) {
      if (threads_.size() > 1) changed_.notify_one();
    } else {
      std::erase(models_, model);
    }
  }
}

void Engine::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  for (const auto& model : models_) model->batcher().abandon();
  models_.clear();
}

}  // namespace synthesizer::serve
