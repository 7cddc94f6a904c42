#include "runtime/core_sharing.h"

#include <omp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <thread>

#include "runtime/other_processes.h"
#include "runtime/run_delay.h"

namespace synthesizer {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// While one of these exists, threads of this process that wait at an OpenMP barrier sleep almost at once.
/// libgomp (the OpenMP library of LibTorch) does so by itself whenever it manages more threads than there are
/// cores, and it looks at that number at every wait: a team of idle threads, one more than there are cores,
/// makes it so. The team belongs to the thread that opened it and ends with that thread.
class IdleTeam {
 public:
  IdleTeam()
      : owner_([this] {
          const int count = omp_get_num_procs() + 1;
          std::atomic<int> members{0};  // an empty region would be left out by the compiler
#pragma omp parallel num_threads(count)
          members.fetch_add(1);
          released_.wait(false);
        }) {
  }
  ~IdleTeam() {
    released_ = true;
    released_.notify_one();
    owner_.join();
  }
  IdleTeam(const IdleTeam&) = delete;
  IdleTeam& operator=(const IdleTeam&) = delete;

 private:
  std::atomic<bool> released_{false};
  std::thread owner_;
};

void watch() {
  prctl(PR_SET_NAME, "core-sharing");
  RunDelay delay;
  if (!delay.available()) return;
  OtherProcesses others;
  SharingDecision decision;
  std::unique_ptr<IdleTeam> team;
  auto last = Clock::now();
  auto pause = Clock::duration(milliseconds(20));
  for (;;) {
    std::this_thread::sleep_for(pause);
    const auto begin = Clock::now();
    // What this process's own threads take from each other is not sharing: no more than others have run.
    SharingDecision::Duration waited = delay.since_last();
    if (const auto others_ran = others.since_last()) waited = std::min(waited, *others_ran);
    const bool shared = decision.update(waited, begin - last);
    last = begin;
    if (shared != (team != nullptr)) team = shared ? std::make_unique<IdleTeam>() : nullptr;
    // Where there are hundreds of threads to look at, more rarely: never more than a hundredth of one core.
    pause = std::max<Clock::duration>(milliseconds(20), 100 * (Clock::now() - begin));
  }
}

}  // namespace

bool SharingDecision::update(Duration delay, Duration time) {
  constexpr double kMany = 0.25, kFew = 0.15;  // cores
  constexpr Duration kMemory{0.1}, kPatience{0.5};
  if (time.count() <= 0) return shared_;
  const double keep = std::exp(-time / kMemory);
  recent_ = keep * recent_ + (1 - keep) * (delay / time);
  if (recent_ > kMany) shared_ = true;
  quiet_ = recent_ < kFew ? quiet_ + time : Duration(0);
  if (quiet_ > kPatience) shared_ = false;
  return shared_;
}

void share_cores() {
  static pid_t sharing = 0;
  if (sharing == getpid() || std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT")) return;
  sharing = getpid();
  std::thread(watch).detach();
}

}  // namespace synthesizer
