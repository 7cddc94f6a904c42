#include "base/folders.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/error.h"
#include "base/file.h"
#include "text/folder_test.h"

namespace synthesizer::testing {
namespace {

namespace fs = std::filesystem;

TEST(CannotRead, IsAMistakeOnlyWhereTheFileIsNotThereForThem) {
  EXPECT_THROW(cannot_read("a", ENOENT), InvalidInput);
  EXPECT_THROW(cannot_read("a", EACCES), InvalidInput);
  for (const int reason : {EIO, EMFILE, ENFILE, ENOMEM}) {
    try {
      cannot_read("a", reason);
    } catch (const InvalidInput&) {
      FAIL() << reason;
    } catch (const std::runtime_error& failure) {
      EXPECT_TRUE(std::string(failure.what()).starts_with("a cannot be read: "));
    }
  }
}

using FoldersTest = FolderTest;

TEST_F(FoldersTest, AreMadeWithThoseTheyLieIn) {
  make_folders(path("a/b/c/"));
  make_folders(path("a/b/c"));
  make_folders(path("a/./e/../f"));
  EXPECT_TRUE(fs::is_directory(path("a/b/c")) && fs::is_directory(path("a/f")));
}

TEST_F(FoldersTest, SayWhatIsInTheWay) {
  write_file(path("a"), "a file");
  for (const char* below : {"a", "a/b", "a/b/c/"}) {
    EXPECT_THROW(make_folders(path(below)), InvalidInput) << below;
    EXPECT_THROW(check_no_file_in_the_way(path(below)), InvalidInput) << below;
  }
  EXPECT_NO_THROW(check_no_file_in_the_way(path("b/c")));
  EXPECT_FALSE(fs::exists(path("b")));
  EXPECT_THROW(make_folders("/proc/none/b"), std::runtime_error);
  EXPECT_EQ(read_file(path("a")), "a file");
}

TEST_F(FoldersTest, CanBeSynced) {
  write_file(path("a"), "a file");
  EXPECT_TRUE(sync_folder(folder_.string()));
  EXPECT_NO_THROW(sync_file(path("a")));
  EXPECT_FALSE(sync_folder(path("none")));
  EXPECT_THROW(sync_file(path("none")), std::runtime_error);
}

}  // namespace
}  // namespace synthesizer::testing
