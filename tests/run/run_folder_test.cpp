// What a run's folder holds.

#include "run/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "run/run_files.h"

namespace synthesizer::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

using RunFolderTest = RunFiles;

TEST_F(RunFolderTest, ListsItsCheckpointsInOrder) {
  const RunFolder run{root_.string()};
  EXPECT_THAT(run.checkpoint_steps(), IsEmpty());
  for (const int64_t step : {30, 9, 200})
    write("checkpoints/" + run.checkpoint(step).substr(run.checkpoints().size() + 1), "");
  write("checkpoints/step-x.safetensors", "");
  write("checkpoints/notes.txt", "");
  EXPECT_THAT(run.checkpoint_steps(), ElementsAre(9, 30, 200));
  run.prune_checkpoints(2);
  EXPECT_THAT(run.checkpoint_steps(), ElementsAre(30, 200));
}

TEST_F(RunFolderTest, CheckpointsThatCannotBeReadAreNotTakenForNone) {
  const RunFolder run{root_.string()};
  write("checkpoints", "a file");
  EXPECT_THAT([&] { run.checkpoint_steps(); },
              ThrowsMessage<InvalidInput>(HasSubstr("checkpoints cannot be read: Not a directory")));
  EXPECT_NO_THROW(run.prune_checkpoints(1));
}

}  // namespace
}  // namespace synthesizer::testing
