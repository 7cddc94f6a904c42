// Sharing cores with other processes: how waiting is counted, and what is decided from it.

#include "runtime/core_sharing.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "runtime/run_delay.h"

namespace synthesizer {
namespace {

namespace fs = std::filesystem;
using Seconds = SharingDecision::Duration;

TEST(RunDelay, SumsWhatEveryThreadWaitedSinceTheLastCall) {
  std::string name = (fs::temp_directory_path() / "tasks-XXXXXX").string();
  const fs::path tasks = mkdtemp(name.data());
  auto write = [&](const char* thread, const char* line) {
    fs::create_directories(tasks / thread);
    std::ofstream(tasks / thread / "schedstat") << line;
  };
  write("10", "5000 100 3\n");
  write("11", "5000 1000 3\n");
  using std::chrono::nanoseconds;
  RunDelay delay(tasks, std::chrono::milliseconds(0));
  ASSERT_TRUE(delay.available());
  EXPECT_EQ(delay.since_last(), nanoseconds(0));
  write("10", "6000 150 4\n");
  write("12", "1 7 1\n");  // found now, counted from now on
  EXPECT_EQ(delay.since_last(), nanoseconds(50));
  write("11", "5500 1001 4\n");
  write("12", "1 10 1\n");
  EXPECT_EQ(delay.since_last(), nanoseconds(1 + 3));
  write("10", "");  // as the file of a thread that has ended: nothing can be read
  write("12", "1 12 1\n");
  EXPECT_EQ(delay.since_last(), nanoseconds(2));
  fs::remove_all(tasks);
}

TEST(RunDelay, IsUnavailableWhereTheSystemDoesNotCountIt) {
  EXPECT_FALSE(RunDelay("/nowhere").available());
}

TEST(RunDelay, ThreadsThatMustShareOneCoreWait) {
  RunDelay delay("/proc/self/task", std::chrono::milliseconds(0));
  if (!delay.available()) GTEST_SKIP() << "this system does not count it";
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  std::atomic<bool> stop{false};
  auto spin = [&] {
    sched_setaffinity(0, sizeof one, &one);
    while (!stop) {
    }
  };
  std::thread a(spin), b(spin);
  delay.since_last();  // finds them
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto waited = delay.since_last();
  stop = true;
  a.join();
  b.join();
  EXPECT_GT(waited, std::chrono::milliseconds(50));  // about 200 ms if all is well
}

TEST(SharingDecision, SeesAnotherProcessWithinATenthOfASecond) {
  SharingDecision decision;
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(decision.update(Seconds(0.0001), Seconds(0.02)));
  for (int i = 0; i < 5; ++i) decision.update(Seconds(0.01), Seconds(0.02));
  EXPECT_TRUE(decision.shared());
}

TEST(SharingDecision, OneShortInterruptionIsNotAnotherProcess) {
  SharingDecision decision;
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(decision.update(Seconds(0.004), Seconds(0.02)));
    for (int k = 0; k < 10; ++k) EXPECT_FALSE(decision.update(Seconds(0), Seconds(0.02)));
  }
}

TEST(SharingDecision, WaitsBeforeItBelievesThatTheOtherHasGone) {
  SharingDecision decision;
  for (int i = 0; i < 10; ++i) decision.update(Seconds(0.02), Seconds(0.02));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(decision.update(Seconds(0), Seconds(0.02)));  // a pause
  decision.update(Seconds(0.02), Seconds(0.02));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(decision.update(Seconds(0), Seconds(0.02)));
  for (int i = 0; i < 50; ++i) decision.update(Seconds(0), Seconds(0.02));
  EXPECT_FALSE(decision.shared());
}

TEST(SharingDecision, NoTimeIsNoEvidence) {
  SharingDecision decision;
  EXPECT_FALSE(decision.update(Seconds(1), Seconds(0)));
}

}  // namespace
}  // namespace synthesizer
