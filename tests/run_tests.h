#pragma once

#include <execinfo.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

namespace synthesizer::testing_support {

/// Says which test crashed and where, then lets the signal end the program: a crash leaves no result file,
/// and may not come again. (Sanitizers say more than this.)
inline void report_crash(int signal) {
  auto say = [](const char* text) {
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
  };
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  say("\ncrashed in ");
  say(test ? test->test_suite_name() : "no test");
  say(".");
  say(test ? test->name() : "");
  say("\n");
  void* frames[64];
  backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

inline void report_crashes() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  void* first[1];
  backtrace(first, 1);  // loads what it needs now, not in the handler
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) std::signal(signal, report_crash);
#endif
}

/// Runs all tests of the program; results go to $RESULTS/<program>.xml where that is set.
inline int run_tests(int count, char** arguments, const std::string& program) {
  if (const char* results = std::getenv("RESULTS"))
    GTEST_FLAG_SET(output, "xml:" + std::string(results) + "/" + program + ".xml");
  ::testing::InitGoogleMock(&count, arguments);
  report_crashes();
  return RUN_ALL_TESTS();
}

}  // namespace synthesizer::testing_support
