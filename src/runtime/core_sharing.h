#pragma once

#include <chrono>

namespace synthesizer {

/// Keeps this process fast on a machine whose cores are shared with other computing processes. Costs nothing
/// on an otherwise idle machine.
///
/// OpenMP threads that wait for each other (after every matrix product) spin for some milliseconds before
/// they sleep. Alone this is fastest. Beside another such process it is ruinous: a thread spins on the core
/// that the thread it waits for needs, and both processes fall to a fortieth of their speed. So a small
/// thread watches how long the process's threads wait for a core (RunDelay) that others have used
/// (OtherProcesses); while they do, waiting threads go to sleep at once. The number of threads, the way work
/// is divided among them and with them all results stay the same.
///
/// For the rest of the program; further calls do nothing. After fork() the child calls it again, and a
/// process must not call it before it forks. Does nothing where the user has decided (OMP_WAIT_POLICY,
/// GOMP_SPINCOUNT) or where the system doesn't count the delays.
void share_cores();

/// Decides from the share of time that threads waited for a core whether the machine is shared. Quick to see
/// that others are there (each moment of spinning beside them costs much), slower to believe that they have
/// gone (processes pause).
class SharingDecision {
 public:
  using Duration = std::chrono::duration<double>;

  /// Over the last `time`, threads waited for `delay` in sum; whether the cores are shared.
  bool update(Duration delay, Duration time);
  bool shared() const { return shared_; }

 private:
  double recent_ = 0;  ///< cores waited for, a mean over the last few samples
  Duration quiet_{0};  ///< for how long nobody else was seen
  bool shared_ = false;
};

}  // namespace synthesizer
