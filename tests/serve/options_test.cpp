// What `synth serve` takes: its options, and the paths of runs.

#include "serve/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "serve/run_list.h"

namespace synthesizer::serve {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

ServeOptions with_origin(const std::string& cors) {
  ServeOptions options;
  options.runs = {"run"};
  options.cors = cors;
  return options;
}

TEST(ServeOptions, TakeOriginsAsBrowsersSendThem) {
  for (const char* origin : {"", "*", "http://localhost", "https://example.org", "http://10.0.0.1:8080",
                             "http://[::1]:9000", "moz-extension://5c3a"})
    check(with_origin(origin));
  for (const char* other :
       {"evil", "example.org", "https://example.org/", "https://example.org/a", "https://",
        "https://Example.org", "https://example.org:", "https://example.org:443", "http://example.org:80",
        "https://a.org https://b.org", "null", "**"}) {
    try {
      check(with_origin(other));
      ADD_FAILURE() << other;
    } catch (const InvalidInput& mistake) {
      EXPECT_THAT(mistake.what(), HasSubstr("SCHEME://HOST")) << other;
    }
  }
}

/// A folder with the runs "a" and "b" and a file.
class RunPaths : public ::testing::Test {
 protected:
  RunPaths() {
    std::string name = (fs::temp_directory_path() / "run-paths-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    for (const char* run : {"a", "b"}) {
      fs::create_directories(folder_ / run);
      write_file((folder_ / run / "config.toml").string(), "task = \"translation\"\n");
    }
    write_file((folder_ / "file").string(), "");
  }
  ~RunPaths() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string mistake(const std::vector<std::string>& paths) {
    try {
      list_runs(paths);
    } catch (const InvalidInput& mistake) {
      return mistake.what();
    }
    return "none";
  }

 private:
  fs::path folder_;
};

TEST_F(RunPaths, StandForRuns) {
  const RunList all = list_runs({path("."), path("file")});
  ASSERT_EQ(all.runs.size(), 2u);
  EXPECT_EQ(all.runs[0].name, "a");
  EXPECT_EQ(all.runs[1].name, "b");
  EXPECT_EQ(all.left_out, std::vector<std::string>{path("file")});
}

TEST_F(RunPaths, AreGivenOnce) {
  for (const std::string& again : {path("a"), path("a/"), path("b/../a"), path(".")})
    EXPECT_THAT(mistake({path("a"), again}), HasSubstr("is given twice")) << again;
}

TEST_F(RunPaths, MayNameALinkToARunBesideIt) {
  fs::create_directory_symlink(path("a"), path("c"));
  EXPECT_EQ(list_runs({path("a"), path("c")}).runs.size(), 2u);
}

TEST_F(RunPaths, AreNotFilesAlone) {
  EXPECT_THAT(mistake({path("file")}), HasSubstr("is a file: name a run folder"));
  EXPECT_THAT(mistake({path("none")}), HasSubstr("no such folder"));
}

}  // namespace
}  // namespace synthesizer::serve
