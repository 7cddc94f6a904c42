#include "runtime/run_delay.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string>
#include <system_error>

namespace synthesizer {

// A thread computes that runs for a twentieth of the time or, where others leave it less than that, waits for
// half of it.
constexpr int64_t kRunning = 20, kWaiting = 2;

std::optional<RunDelay::Times> RunDelay::read_times(int file) {
  char text[96];
  const ssize_t size = pread(file, text, sizeof text, 0);
  if (size <= 0) return std::nullopt;
  // Three numbers: time on a core, time waited for one, how often it was given one.
  const char* last = text + size;
  Times times = {};
  const auto running = std::from_chars(text, last, times.running);
  if (running.ec != std::errc() || running.ptr == last) return std::nullopt;
  if (std::from_chars(running.ptr + 1, last, times.waiting).ec != std::errc()) return std::nullopt;
  return times;
}

RunDelay::RunDelay(std::filesystem::path tasks, std::chrono::milliseconds renewal)
    : tasks_(std::move(tasks)), renewal_(renewal), last_(std::chrono::steady_clock::now()) {
  look_for_threads();
}

RunDelay::~RunDelay() {
  for (const auto& [number, thread] : threads_) close(thread.file);
}

void RunDelay::look_for_threads() {
  looked_ = std::chrono::steady_clock::now();
  std::error_code gone;
  for (std::filesystem::directory_iterator task(tasks_, gone), end; !gone && task != end;
       task.increment(gone)) {
    const std::string name = task->path().filename().string();
    int64_t number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ec != std::errc()) continue;
    if (threads_.contains(number)) continue;
    const int file = open((task->path() / "schedstat").c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    if (const auto times = read_times(file)) {
      threads_[number] = {file, *times};
    } else {
      close(file);
    }
  }
}

std::chrono::nanoseconds RunDelay::since_last() {
  const auto now = std::chrono::steady_clock::now();
  const int64_t passed = std::chrono::nanoseconds(now - last_).count();
  last_ = now;
  int64_t sum = 0;
  for (auto one = threads_.begin(); one != threads_.end();) {
    Thread& thread = one->second;
    if (const auto times = read_times(thread.file)) {
      const int64_t running = times->running - thread.times.running;
      const int64_t waiting = times->waiting - thread.times.waiting;
      if (kRunning * running >= passed || kWaiting * waiting >= passed) sum += waiting;
      thread.times = *times;
      ++one;
    } else {  // it has ended
      close(thread.file);
      one = threads_.erase(one);
    }
  }
  if (now - looked_ >= renewal_) look_for_threads();
  return std::chrono::nanoseconds(sum);
}

}  // namespace synthesizer
