#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/error.h"

namespace synthesizer {
namespace {

namespace fs = std::filesystem;

class InAFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("file_test_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {})); }

  fs::path folder_;
};

using AtomicFileTest = InAFolder;

TEST_F(AtomicFileTest, AppearsWhenItIsCommitted) {
  {
    AtomicFile file(path("a"));
    file.write("first ");
    file.write("second");
    EXPECT_FALSE(fs::exists(path("a")));
    file.commit();
  }
  EXPECT_EQ(read_file(path("a")), "first second");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, LeavesNothingBehindWithoutACommit) {
  write_file(path("a"), "before");
  {
    AtomicFile file(path("a"));
    file.write("half");
  }
  EXPECT_EQ(read_file(path("a")), "before");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, ThatDoesNotFitLeavesTheOldOne) {
  write_file(path("a"), "before");
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1024, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(write_file(path("a"), std::string(4096, 'x')), std::runtime_error);
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_EQ(read_file(path("a")), "before");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, KnowsItsUnfinishedOnes) {
  EXPECT_TRUE(is_temporary("model.safetensors.tmp123"));
  EXPECT_FALSE(is_temporary("model.safetensors"));
  EXPECT_FALSE(is_temporary("step-00000100"));
  EXPECT_FALSE(is_temporary("a.tmp"));
  EXPECT_FALSE(is_temporary("123"));
}

TEST_F(AtomicFileTest, InAFolderThatIsNotThereIsAnError) {
  EXPECT_THROW(AtomicFile(path("none/a")), std::runtime_error);
}

TEST_F(AtomicFileTest, ReadingWhatIsNotThereOrAFolderIsAMistake) {
  EXPECT_THROW(read_file(path("none")), InvalidInput);
  EXPECT_THROW(read_file(folder_.string()), InvalidInput);
}

TEST_F(AtomicFileTest, SaysThatItsFolderIsGone) {
  try {
    AtomicFile(path("none/a"));
    FAIL();
  } catch (const std::runtime_error& failure) {
    EXPECT_NE(std::string(failure.what()).find("its folder is not there any more"), std::string::npos);
  }
}

using LineLogTest = InAFolder;

TEST_F(LineLogTest, AddsToWhatIsThere) {
  { LineLog(path("log")).add("one"); }
  { LineLog(path("log")).add("two"); }
  EXPECT_EQ(read_file(path("log")), "one\ntwo\n");
}

}  // namespace
}  // namespace synthesizer
