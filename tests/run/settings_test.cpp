#include "run/settings.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "run/run_files.h"

namespace synthesizer::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

using SettingsFiles = RunFiles;

TEST(Settings, ReadOptionsOfAttentionsOneByOne) {
  EXPECT_THAT(parse_settings(
                  "x", "[model]\noptions = { rank = 8, weights = \"learned\" }\nbias = true\nrate = 1e-09\n"),
              ElementsAre(Pair("model.options.rank", "8"), Pair("model.options.weights", "learned"),
                          Pair("model.bias", "true"), Pair("model.rate", "1e-09")));
}

TEST(Settings, KeepTheOrderOfTheFile) {
  EXPECT_THAT(parse_settings("x", "b = 2\na = [\"x\", \"y\"]\n"),
              ElementsAre(Pair("b", "2"), Pair("a", R"(["x", "y"])")));
  EXPECT_THAT(parse_settings("x", ""), IsEmpty());
}

TEST(Settings, SayWhereTheyAreNoToml) {
  EXPECT_THAT([] { parse_settings("config.toml", "a = 1\nb = = 2\n"); },
              ThrowsMessage<InvalidInput>(StartsWith("config.toml:2: ")));
}

TEST_F(SettingsFiles, AreReadFromAFile) {
  const std::string path = write("x/config.toml", "a = 1\n");
  EXPECT_THAT(read_settings(path), ElementsAre(Pair("a", "1")));
  write("x/config.toml", "a = 1\nb = = 2\n");
  EXPECT_THAT([&] { read_settings(path); }, ThrowsMessage<InvalidInput>(HasSubstr("config.toml:2: ")));
  EXPECT_THROW(read_settings(path + "none"), InvalidInput);
}

}  // namespace
}  // namespace synthesizer::testing
