#include "runtime/run_delay.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace synthesizer {
namespace {

/// The second of three numbers: "time on a core, time waited for one, how often it was given one".
std::optional<int64_t> read_delay(int file) {
  char text[96];
  const ssize_t size = pread(file, text, sizeof text, 0);
  if (size <= 0) return std::nullopt;
  const std::string_view line(text, static_cast<size_t>(size));
  const auto begin = line.find(' ');
  int64_t delay = 0;
  if (begin == std::string_view::npos) return std::nullopt;
  const char* last = line.data() + line.size();
  if (std::from_chars(line.data() + begin + 1, last, delay).ec != std::errc()) return std::nullopt;
  return delay;
}

}  // namespace

RunDelay::RunDelay(std::filesystem::path tasks, std::chrono::milliseconds renewal)
    : tasks_(std::move(tasks)), renewal_(renewal) {
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
    if (const auto delay = read_delay(file)) {
      threads_[number] = {file, *delay};
    } else {
      close(file);
    }
  }
}

std::chrono::nanoseconds RunDelay::since_last() {
  int64_t sum = 0;
  for (auto one = threads_.begin(); one != threads_.end();) {
    Thread& thread = one->second;
    if (const auto delay = read_delay(thread.file)) {
      sum += *delay - thread.delay;
      thread.delay = *delay;
      ++one;
    } else {  // it has ended
      close(thread.file);
      one = threads_.erase(one);
    }
  }
  if (std::chrono::steady_clock::now() - looked_ >= renewal_) look_for_threads();
  return std::chrono::nanoseconds(sum);
}

}  // namespace synthesizer
