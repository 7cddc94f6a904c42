// One command at a time in a run's folder.

#include "run/run_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "text/folder_test.h"

namespace synthesizer::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
namespace fs = std::filesystem;

const std::vector<std::string> kCommand = {"/usr/bin/synth", "train", "r.toml"};

using RunLockTest = FolderTest;

TEST_F(RunLockTest, NamesTheFirst) {
  const RunLock first(path("run"), kCommand);
  EXPECT_THAT(
      [&] {
        RunLock(path("run"), {"synth", "average"});
      },
      ThrowsMessage<InvalidInput>(AllOf(HasSubstr(path("run") + " is in use by process "),
                                        HasSubstr(std::to_string(::getpid()) + " (synth train r.toml)"),
                                        HasSubstr("kill"))));
  EXPECT_THROW(RunLock::free_for_new_run(path("run")), InvalidInput);
}

TEST_F(RunLockTest, MakesAFolderAndTakesAnEmptyOneAwayAgain) {
  { const RunLock lock(path("a/b"), kCommand); }
  EXPECT_FALSE(fs::exists(path("a/b")));
  {
    const RunLock lock(path("a/b"), kCommand);
    write_file(path("a/b/config.toml"), "");
  }
  EXPECT_TRUE(fs::exists(path("a/b/config.toml")));
  EXPECT_FALSE(fs::exists(path("a/b/.lock")));
  fs::create_directory(path("c"));
  { const RunLock lock(path("c"), kCommand); }
  EXPECT_TRUE(fs::is_empty(path("c")));
}

TEST_F(RunLockTest, IsLeftAloneByForkedProcesses) {
  const RunLock lock(path("run"), kCommand);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const_cast<RunLock&>(lock).~RunLock();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(fs::exists(path("run/.lock")));
  EXPECT_THROW(RunLock(path("run"), kCommand), InvalidInput);
}

TEST_F(RunLockTest, LeavesAloneWhatHasComeInItsPlace) {
  {
    const RunLock lock(path("run"), kCommand);
    fs::remove_all(path("run"));
    fs::create_directory(path("run"));
    write("run/.lock", "another");
  }
  EXPECT_TRUE(fs::exists(path("run/.lock")));
}

TEST_F(RunLockTest, WhatAKillHasLeftRefusesNobody) {
  fs::create_directory(path("run"));
  for (const char* name : {".lock", "tokenizer.model", "run.json", "model.safetensors.tmp12"})
    write("run/" + std::string(name), "123 synth train");
  EXPECT_TRUE(RunLock::free_for_new_run(path("run")));
  EXPECT_TRUE(fs::is_empty(path("run")));
}

TEST_F(RunLockTest, OnlyThatIsDeleted) {
  const std::vector<std::vector<const char*>> folders = {
      {"tokenizer.model"},                             // no lock: not ours to say
      {".lock", "tokenizer.model", "notes.txt"},       // somebody's file
      {".lock", "tokenizer.model", "config.toml"},     // a run
      {".lock", "tokenizer.model", "V/config.toml"}};  // a comparison
  for (size_t i = 0; i < folders.size(); ++i) {
    const std::string folder = "run" + std::to_string(i);
    fs::create_directories(path(folder) + "/V");
    if (i < 3) fs::remove(path(folder) + "/V");
    for (const char* name : folders[i]) write(folder + "/" + name, "mine");
    EXPECT_FALSE(RunLock::free_for_new_run(path(folder))) << i;
    for (const char* name : folders[i]) {
      if (std::string(name) != ".lock") {
        EXPECT_TRUE(fs::exists(path(folder) + "/" + name)) << i << name;
      }
    }
  }
}

TEST_F(RunLockTest, EmptyFoldersAndNoneAreFree) {
  EXPECT_TRUE(RunLock::free_for_new_run(path("none")));
  fs::create_directory(path("empty"));
  EXPECT_TRUE(RunLock::free_for_new_run(path("empty")));
  write("file", "");
  EXPECT_FALSE(RunLock::free_for_new_run(path("file")));
}

}  // namespace
}  // namespace synthesizer::testing
