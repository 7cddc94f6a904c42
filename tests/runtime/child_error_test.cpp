// What a child process says of its end, and who hears it.

#include "runtime/child_error.h"

#include <gtest/gtest.h>

#include <utility>

#include "runtime/child_processes.h"

namespace synthesizer::testing {
namespace {

TEST(ChildErrorOf, a_child_is_read_by_its_parent) {
  ChildError silent, loud;
  ChildProcesses children;
  children.start([&] { return 0; });
  children.start([&] {
    loud.say("no space left");
    return 1;
  });
  while (!children.outcome(0) || !children.outcome(1)) children.wait();
  EXPECT_EQ(silent.said(), "");
  const ChildError moved = std::move(loud);
  EXPECT_EQ(moved.said(), "no space left");
}

}  // namespace
}  // namespace synthesizer::testing
