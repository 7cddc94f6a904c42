// A program that was built without Gloo's headers says what to install when several processes are asked for.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/process_group.h"

namespace synthesizer {
namespace {

TEST(WithoutProcesses, SaysWhatToInstall) {
  try {
    join_processes({}, "a build");
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("libgloo-dev"));
  }
}

}  // namespace
}  // namespace synthesizer
