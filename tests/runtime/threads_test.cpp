// How many threads: the CPU limits of control groups, as Linux writes them, and the numbers a user may ask
// for.

#include "runtime/threads.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"

namespace synthesizer {
namespace {

namespace fs = std::filesystem;

/// A tree of control groups in a folder of its own.
class ControlGroups : public ::testing::Test {
 protected:
  ControlGroups() {
    std::string name = (fs::temp_directory_path() / "groups-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~ControlGroups() override { fs::remove_all(folder_); }

  void write(const fs::path& path, const std::string& text) {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
  }
  std::optional<double> cores() const {
    return control_group_cores(folder_ / "membership", folder_ / "mount");
  }

 private:
  fs::path folder_;
};

TEST_F(ControlGroups, Version2LimitIsQuotaOverPeriod) {
  write("membership", "0::/user/job\n");
  write("mount/user/job/cpu.max", "150000 100000\n");
  EXPECT_EQ(cores(), 1.5);
}

TEST_F(ControlGroups, TheTightestLimitOnTheWayUpCounts) {
  write("membership", "0::/user/job\n");
  write("mount/user/job/cpu.max", "800000 100000\n");
  write("mount/user/cpu.max", "200000 100000\n");
  EXPECT_EQ(cores(), 2);
}

TEST_F(ControlGroups, MaxIsNoLimit) {
  write("membership", "0::/job\n");
  write("mount/job/cpu.max", "max 100000\n");
  EXPECT_EQ(cores(), std::nullopt);
}

TEST_F(ControlGroups, InAContainerTheMountPointIsTheGroup) {
  write("membership", "0::/docker/0123456789\n");  // a path of the host that is not mounted here
  write("mount/cpu.max", "50000 100000\n");
  EXPECT_EQ(cores(), 0.5);
}

TEST_F(ControlGroups, Version1HasTwoFilesUnderTheControllersName) {
  write("membership", "5:devices:/x\n3:cpu,cpuacct:/job\n0::/\n");
  write("mount/cpu,cpuacct/job/cpu.cfs_quota_us", "300000\n");
  write("mount/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cores(), 3);
}

TEST_F(ControlGroups, Version1MinusOneIsNoLimit) {
  write("membership", "3:cpu:/job\n");
  write("mount/cpu/job/cpu.cfs_quota_us", "-1\n");
  write("mount/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cores(), std::nullopt);
}

TEST_F(ControlGroups, CpusetIsNotTheCpuController) {
  write("membership", "3:cpuset:/job\n");
  write("mount/cpuset/job/cpu.cfs_quota_us", "100000\n");
  write("mount/cpuset/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cores(), std::nullopt);
}

TEST_F(ControlGroups, NonsenseIsNoLimit) {
  write("membership", "nonsense\n\n:::::\n0::/job\n");
  write("mount/job/cpu.max", "lots of it\n");
  EXPECT_EQ(cores(), std::nullopt);
  EXPECT_EQ(control_group_cores("/nowhere", "/nowhere"), std::nullopt);
}

TEST(Threads, AreAsManyAsAskedFor) {
  const int before = at::get_num_threads();
  use_threads(1);
  EXPECT_EQ(at::get_num_threads(), 1);
  EXPECT_GE(usable_cores(), 1);
  use_threads(before);
  EXPECT_EQ(at::get_num_threads(), before);
}

TEST(Threads, OutOfRangeIsAMistakeThatNamesTheRange) {
  for (const int64_t count : {int64_t{0}, int64_t{-1}, kMaxThreads + 1, int64_t{100000}}) {
    try {
      use_threads(count);
      ADD_FAILURE() << count << " was accepted";
    } catch (const InvalidInput& mistake) {
      EXPECT_THAT(mistake.what(), ::testing::HasSubstr("from 1 to 1024"));
    }
  }
}

size_t threads_of_this_process() {
  const fs::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST(ReleaseTeam, EndsTheThreadsOfTheCaller) {
  std::thread([] {
    const size_t before = threads_of_this_process();
    for (int again = 0; again < 2; ++again) {
      std::atomic<int> members{0};
#pragma omp parallel num_threads(5)
      members.fetch_add(1);
      EXPECT_EQ(members, 5);
      EXPECT_EQ(threads_of_this_process(), before + 4);
      release_team();
      for (int tries = 0; tries < 1000 && threads_of_this_process() > before; ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // they end by themselves
      EXPECT_EQ(threads_of_this_process(), before);
    }
  }).join();
}

}  // namespace
}  // namespace synthesizer
