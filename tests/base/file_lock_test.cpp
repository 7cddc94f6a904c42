// A lock that processes and threads take and give back many times: it never has two holders.

#include "base/file_lock.h"

#include <fcntl.h>
#include <sys/wait.h>

#include <thread>
#include <vector>

#include "text/folder_test.h"

namespace synthesizer::testing {
namespace {

using FileLockTest = FolderTest;

/// Takes the lock so many times; how often somebody else was inside, or the lock was not held.
int conflicts(const std::string& path, int times) {
  const std::string inside = path + ".inside";
  int found = 0;
  for (int n = 0; n < times; ++n) {
    const FileLock lock(path);
    if (!lock.held()) ++found;
    const int entered = ::open(inside.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (entered < 0) {
      ++found;
      continue;
    }
    ::close(entered);
    if (n % 4 == 0) std::this_thread::yield();
    ::unlink(inside.c_str());
  }
  return found;
}

TEST_F(FileLockTest, has_one_holder_among_processes) {
  std::vector<pid_t> children;
  for (int n = 0; n < 8; ++n) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) ::_exit(conflicts(path("lock"), 1000) == 0 ? 0 : 1);
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "another process was inside too";
  }
}

TEST_F(FileLockTest, has_one_holder_among_threads) {
  std::vector<int> found(8);
  std::vector<std::thread> threads;
  for (int& one : found) threads.emplace_back([&one, this] { one = conflicts(path("lock"), 1000); });
  for (std::thread& thread : threads) thread.join();
  for (const int one : found) EXPECT_EQ(one, 0);
}

TEST_F(FileLockTest, leaves_no_file_behind) {
  { const FileLock lock(path("lock")); }
  EXPECT_FALSE(std::filesystem::exists(path("lock")));
}

TEST_F(FileLockTest, is_not_held_where_there_can_be_no_file) {
  const FileLock lock(path("no/such/folder"));
  EXPECT_FALSE(lock.held());
}

TEST_F(FileLockTest, can_refuse_to_wait) {
  const FileLock first(path("lock"));
  const FileLock second(path("lock"), FileLock::Wait::never);
  EXPECT_FALSE(second.held());
  EXPECT_TRUE(second.busy());
  EXPECT_FALSE(first.busy());
}

TEST_F(FileLockTest, knows_whether_its_file_is_still_in_place) {
  FileLock lock(path("lock"));
  EXPECT_TRUE(lock.in_place());
  std::filesystem::rename(path("lock"), path("elsewhere"));
  EXPECT_FALSE(lock.in_place());
  { std::ofstream(path("lock")) << "another"; }
  EXPECT_FALSE(lock.in_place());
  lock.release();
  EXPECT_TRUE(std::filesystem::exists(path("lock")));  // it was not this one's to delete
}

}  // namespace
}  // namespace synthesizer::testing
