#include "run/provenance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/error.h"

namespace synthesizer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* cpuinfo =
    "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 143\nmodel name\t: Some Processor @ 2.00GHz\n"
    "flags\t\t: fpu avx avx2 avx512f_not avx512f amx_bf16\nvmx flags\t: none\n\n"
    "processor\t: 1\nmodel name\t: Another\nflags\t\t: fpu\n";

class ProvenanceTest : public ::testing::Test {
 protected:
  ProvenanceTest() : home_(std::getenv("HOME") == nullptr ? "" : std::getenv("HOME")) {
    ::setenv("HOME", "/home/somebody", 1);
  }
  ~ProvenanceTest() override { ::setenv("HOME", home_.c_str(), 1); }

  std::string home_;
};

TEST_F(ProvenanceTest, AProcessorIsDescribedByItsFirstCore) {
  const auto processor = describe_processor(cpuinfo);
  EXPECT_EQ(processor.name, "Some Processor @ 2.00GHz");
  EXPECT_THAT(processor.flags, ElementsAre("avx2", "avx512f", "amx_bf16"));
}

TEST_F(ProvenanceTest, FlagsAreWholeWords) {
  EXPECT_THAT(describe_processor("flags : avx2x xavx512f avx512\n").flags, IsEmpty());
  EXPECT_THAT(describe_processor("flags : avx2").flags, ElementsAre("avx2"));
}

TEST_F(ProvenanceTest, AProcessorThatSaysNothingIsUnknown) {
  for (const char* text : {"", "\n\n", "model name", "model name\t:", "flags", "Model: 7\n:\n"}) {
    EXPECT_EQ(describe_processor(text).name, "unknown") << text;
    EXPECT_THAT(describe_processor(text).flags, IsEmpty()) << text;
  }
}

TEST_F(ProvenanceTest, JsonHoldsEverythingInOrder) {
  Provenance provenance({"synth", "train", "x.toml"}, "1.2.3", "abc", "2.13.0", 2, {{"train.txt", "00ff"}});
  provenance.processor = {"P", {"avx2"}};
  provenance.cores = 4;
  provenance.memory_bytes = 5;
  provenance.started = "2026-01-02T03:04:05Z";
  EXPECT_EQ(
      provenance.json().dump(),
      R"({"command":["synth","train","x.toml"],"version":"1.2.3","commit":"abc","libtorch":"2.13.0",)"
      R"("started":"2026-01-02T03:04:05Z","processor":"P","vector_flags":["avx2"],"cores":4,"threads":2,)"
      R"("memory_bytes":5,"data":{"train.txt":"00ff"}})");
}

TEST_F(ProvenanceTest, EmptyListsStayLists) {
  Provenance provenance({}, "", "", "", 1, {});
  provenance.processor.flags.clear();
  const auto json = provenance.json();
  EXPECT_TRUE(json["command"].is_array());
  EXPECT_TRUE(json["vector_flags"].is_array());
  EXPECT_TRUE(json["data"].is_object());
}

TEST_F(ProvenanceTest, TheMachineIsLookedAt) {
  const Provenance provenance({"synth"}, "1", "c", "t", 2, {});
  EXPECT_GE(provenance.cores, 1);
  EXPECT_GT(provenance.memory_bytes, int64_t{1} << 26);
  EXPECT_FALSE(provenance.processor.name.empty());
  EXPECT_TRUE(std::regex_match(provenance.started, std::regex(R"(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ)")))
      << provenance.started;
}

TEST_F(ProvenanceTest, NoHostNameIsWritten) {
  char host[256] = {};
  ASSERT_EQ(::gethostname(host, sizeof host - 1), 0);
  const Provenance provenance({"synth"}, "1", "c", "t", 2, {});
  const auto json = provenance.json();
  for (const auto& [key, value] : json.items()) EXPECT_NE(value.dump(), '"' + std::string(host) + '"');
}

TEST_F(ProvenanceTest, TheHomeFolderIsNotNamed) {
  const Provenance provenance(
      {"/home/somebody/bin/synth", "--run=/home/somebody/runs/x", "/home/somebodyelse/y", "/home/somebody",
       "a/home/somebody/b:/home/somebody/c"},
      "1", "c", "t", 2, {{"/home/somebody/train.txt", "00"}});
  EXPECT_THAT(provenance.command,
              ElementsAre("~/bin/synth", "--run=~/runs/x", "/home/somebodyelse/y", "~", "a~/b:~/c"));
  EXPECT_EQ(provenance.data.begin()->first, "~/train.txt");
}

TEST_F(ProvenanceTest, AHomeThatIsNoneChangesNothing) {
  for (const char* home : {"", "/", "//"}) {
    ::setenv("HOME", home, 1);
    EXPECT_THAT(Provenance({"/a/b"}, "", "", "", 1, {}).command, ElementsAre("/a/b"));
  }
  ::unsetenv("HOME");
  EXPECT_THAT(Provenance({"/a/b"}, "", "", "", 1, {}).command, ElementsAre("/a/b"));
}

TEST_F(ProvenanceTest, ArgumentsOfAnyBytesCanBeWritten) {
  EXPECT_EQ(Provenance({"a\xFF", "\"\n"}, "", "", "", 1, {}).json()["command"].dump(),
            "[\"a\uFFFD\",\"\\\"\\n\"]");
}

TEST_F(ProvenanceTest, WhatIsWrittenIsRead) {
  Provenance written({"synth", "train"}, "1.2.3", "abc", "2.13.0", 2, {{"train.txt", "00ff"}});
  written.made_from = {"grow", "runs/small"};
  auto json = written.json();
  json["parameter_groups"] = {{{"name", "logits"}}};  // what others add is passed over
  const Provenance read = parse_provenance("run.json", json.dump(2));
  EXPECT_EQ(read.json(), written.json());
  EXPECT_EQ(read.made_from->run, "runs/small");
  EXPECT_FALSE(parse_provenance("run.json", "{}").made_from);
}

TEST_F(ProvenanceTest, DamageIsNamed) {
  for (const char* text :
       {"", "[]", "{", "{\"threads\":\"two\"}", "{\"threads\":2.5}", "{\"command\":\"synth\"}",
        "{\"data\":[]}", "{\"version\":1}", "{\"made_from\":\"x\"}"}) {
    try {
      parse_provenance("a/run.json", text);
      ADD_FAILURE() << text;
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), ::testing::StartsWith("a/run.json is damaged: ")) << text;
    }
  }
}

TEST_F(ProvenanceTest, NestingTakesNoStack) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_THROW(parse_provenance("run.json", "{\"threads\":" + deep + "}"), InvalidInput);
}

TEST_F(ProvenanceTest, TimesAreUtc) {
  EXPECT_EQ(iso_time(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(iso_time(951782399), "2000-02-28T23:59:59Z");
  EXPECT_EQ(iso_time(951782400), "2000-02-29T00:00:00Z");
  EXPECT_EQ(iso_time(1785587696), "2026-08-01T12:34:56Z");
}

}  // namespace
}  // namespace synthesizer
