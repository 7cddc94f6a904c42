// Keys of TOML texts that would take all of the stack.

#include "run/toml_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "run/settings.h"

namespace synthesizer {
namespace {

std::string repeated(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

TEST(TomlKeys, OfManyPartsAreRefusedWhereTheyStand) {
  for (const std::string& key :
       {"a" + repeated(".a", 20), "a" + repeated(" . \"b c\"", 20), "'x'" + repeated(".'y'", 20)}) {
    for (const std::string& text : {key + " = 1\n", "[" + key + "]\n", "x = { " + key + " = 1 }\n"}) {
      try {
        check_toml_keys("r.toml", "seed = 1\n" + text);
        ADD_FAILURE() << text;
      } catch (const InvalidInput& refusal) {
        EXPECT_THAT(refusal.what(), ::testing::StartsWith("r.toml:2: ")) << text;
      }
    }
  }
  EXPECT_THROW(parse_settings("r.toml", "a" + repeated(".a", 1'000'000) + " = 1\n"), InvalidInput);
}

TEST(TomlKeys, OfFewPartsAndOtherTextPass) {
  check_toml_keys("r.toml", "");
  check_toml_keys("r.toml", "a" + repeated(".a", 15) + " = 1\n");
  check_toml_keys("r.toml", "files = [" + repeated("\"a.b.en\", ", 50) + "]  # a list\n");
  check_toml_keys("r.toml", "text = \"" + repeated("one. two three... ", 50) + "\"\n");
  check_toml_keys("r.toml", "x = " + repeated(".", 50) + "\n" + repeated("a.b\n", 50));
}

}  // namespace
}  // namespace synthesizer
