#include "runtime/interrupt.h"

#include <atomic>
#include <chrono>

namespace synthesizer {
namespace {

std::atomic<void (*)()> interrupt_check = nullptr;

}  // namespace

void check_interrupt() {
  void (*check)() = interrupt_check;
  if (check == nullptr) return;
  using Clock = std::chrono::steady_clock;
  thread_local Clock::time_point checked;
  const auto now = Clock::now();
  if (now - checked < std::chrono::milliseconds(50)) return;
  checked = now;
  check();
}

void set_interrupt_check(void (*check)()) {
  interrupt_check = check;
}

}  // namespace synthesizer
