// Sharing cores with other processes: how waiting is counted, and what is decided from it.

#include "runtime/core_sharing.h"

#include <gtest/gtest.h>

#include <atomic>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "runtime/other_processes.h"
#include "runtime/run_delay.h"

namespace synthesizer {
namespace {

namespace fs = std::filesystem;
using Seconds = SharingDecision::Duration;

/// A folder like /proc/self/task whose threads have the times that are written into it.
class WrittenTasks {
 public:
  WrittenTasks() : folder_(mkdtemp(name_.data())) {}
  ~WrittenTasks() { fs::remove_all(folder_); }
  const fs::path& folder() const { return folder_; }
  void write(const char* thread, int64_t running, int64_t waiting) const {
    fs::create_directories(folder_ / thread);
    std::ofstream(folder_ / thread / "schedstat") << running << ' ' << waiting << " 3\n";
  }
  /// As the file of a thread that has ended: nothing can be read.
  void end(const char* thread) const { std::ofstream(folder_ / thread / "schedstat"); }

 private:
  std::string name_ = (fs::temp_directory_path() / "tasks-XXXXXX").string();
  fs::path folder_;
};

constexpr int64_t kSecond = 1'000'000'000;  // much longer than the test: all that is written are computing

TEST(RunDelay, SumsWhatEveryThreadWaitedSinceTheLastCall) {
  const WrittenTasks tasks;
  tasks.write("10", 5 * kSecond, 100);
  tasks.write("11", 5 * kSecond, 1000);
  using std::chrono::nanoseconds;
  RunDelay delay(tasks.folder(), std::chrono::milliseconds(0));
  ASSERT_TRUE(delay.available());
  EXPECT_EQ(delay.since_last(), nanoseconds(0));
  tasks.write("10", 6 * kSecond, 150);
  tasks.write("12", 1 * kSecond, 7);  // found now, counted from now on
  EXPECT_EQ(delay.since_last(), nanoseconds(50));
  tasks.write("11", 6 * kSecond, 1001);
  tasks.write("12", 2 * kSecond, 10);
  EXPECT_EQ(delay.since_last(), nanoseconds(1 + 3));
  tasks.end("10");
  tasks.write("12", 3 * kSecond, 12);
  EXPECT_EQ(delay.since_last(), nanoseconds(2));
}

TEST(RunDelay, ThreadsThatOnlyWakeUpForAMomentDoNotCount) {
  const WrittenTasks tasks;
  for (const char* thread : {"10", "11", "12"}) tasks.write(thread, 0, 0);
  RunDelay delay(tasks.folder(), std::chrono::milliseconds(0));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  tasks.write("10", 10'000, 1'000'000);  // of a connection
  tasks.write("11", kSecond, 20);        // computes
  tasks.write("12", 10'000, kSecond);    // would compute if it were let
  EXPECT_EQ(delay.since_last(), std::chrono::nanoseconds(kSecond + 20));
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

TEST(OtherProcesses, AreWhatTheCoresDidBeyondThisProcess) {
  std::string name = (fs::temp_directory_path() / "stat-XXXXXX").string();
  const fs::path folder = mkdtemp(name.data());
  auto write = [&](int64_t user, int64_t idle) {
    std::ofstream(folder / "stat") << "cpu  " << user << " 1 2 " << idle << " 500 3 4 0 0 0\ncpu0 9 9 9 9\n";
  };
  write(100, 1000);
  OtherProcesses others(folder / "stat");
  EXPECT_NEAR(others.since_last().value().count(), 0, 0.1);  // less what this test has taken
  write(100 + 5 * sysconf(_SC_CLK_TCK), 9000);
  EXPECT_NEAR(others.since_last().value().count(), 5, 0.1);
  std::ofstream(folder / "stat") << "something else";
  EXPECT_FALSE(others.since_last());
  fs::remove_all(folder);
  EXPECT_FALSE(OtherProcesses("/nowhere").since_last());
}

TEST(OtherProcesses, DoNotIncludeThisOne) {
  OtherProcesses others;
  if (!others.since_last()) GTEST_SKIP() << "this system does not say";
  auto own = [] {
    timespec time = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double own_before = own();
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() < begin + std::chrono::milliseconds(300)) {
  }
  const double found = others.since_last().value().count();
  const Seconds passed = std::chrono::steady_clock::now() - begin;
  // However busy the machine is: all cores, less what this process had of them. Cores count in hundredths.
  EXPECT_LT(found, passed.count() * std::thread::hardware_concurrency() - (own() - own_before) + 0.1);
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
