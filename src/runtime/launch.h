#pragma once

#include <cstdint>
#include <functional>

namespace synthesizer {

/// One of the processes that launch() starts.
struct LaunchedProcess {
  int64_t rank = 0, size = 1;
  int listener = -1;  ///< rank 0: a socket that listens at `port` of 127.0.0.1
  int64_t port = 0;
};

/// Runs `work` in `count` processes of this machine, forked from this one, and waits for all. It must be
/// called before anything uses LibTorch's threads. Rank 0 has this program's standard output and error; the
/// others print nothing. When one fails, the others are given some seconds to end, then killed; none outlives
/// this process. SIGINT, SIGTERM and SIGHUP are passed on to all (runtime/child_processes.h).
///
/// Returns 0 where none failed, else the highest status that one ended with. Where rank 0 could not say what
/// went wrong, one line on standard error does. In a child it returns nothing: it ends with what `work`
/// returns, or what `work` throws leaves this function in the child.
int launch(int64_t count, const std::function<int(const LaunchedProcess&)>& work);

}  // namespace synthesizer
