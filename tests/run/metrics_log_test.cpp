#include "run/metrics_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/error.h"

namespace synthesizer {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

class MetricsLogTest : public ::testing::Test {
 protected:
  MetricsLogTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "metrics_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    path_ = folder_ + "/metrics.jsonl";
  }
  ~MetricsLogTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  std::vector<int64_t> steps() {
    std::vector<int64_t> all;
    for (const auto& metrics : MetricsLog::read(path_)) all.push_back(metrics.step);
    return all;
  }

  std::string folder_, path_;
};

TEST_F(MetricsLogTest, ALineIsAnObjectInTheOrderGiven) {
  MetricsLog(path_).add(100, "train", {{"loss", 1.5}, {"accuracy", 0.1}, {"a", -3}});
  EXPECT_EQ(read_file(path_),
            "{\"step\":100,\"split\":\"train\",\"loss\":1.5,\"accuracy\":0.1,\"a\":-3.0}\n");
}

TEST_F(MetricsLogTest, LinesAreThereAsSoonAsTheyAreAdded) {
  MetricsLog log(path_);
  log.add(1, "train", {{"loss", 2}});
  EXPECT_THAT(steps(), ElementsAre(1));
  log.add(2, "dev", {});
  EXPECT_THAT(steps(), ElementsAre(1, 2));
}

TEST_F(MetricsLogTest, RowsAreAListOrAListOfLists) {
  MetricsLog(path_).add_rows(5, "mixture",
                             {{"encoder.layers.0", {{0.25, 0.75}}}, {"b", {{1, 0}, {0.5, 0.5}}}});
  EXPECT_EQ(
      read_file(path_),
      "{\"step\":5,\"split\":\"mixture\",\"encoder.layers.0\":[0.25,0.75],\"b\":[[1.0,0.0],[0.5,0.5]]}\n");
  const auto all = MetricsLog::read(path_);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].split, "mixture");
  EXPECT_TRUE(all[0].values.empty());
  EXPECT_EQ(all[0].rows, (MetricRows{{"encoder.layers.0", {{0.25, 0.75}}}, {"b", {{1, 0}, {0.5, 0.5}}}}));
  MetricsLog::drop_after(path_, 4);
  EXPECT_EQ(read_file(path_), "");
}

TEST_F(MetricsLogTest, WhatIsAddedIsRead) {
  MetricsLog(path_).add(7, "dev \"é\"", {{"loss", 0.1 + 0.2}, {"bleu", 27.3}});
  const auto all = MetricsLog::read(path_);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].step, 7);
  EXPECT_EQ(all[0].split, "dev \"é\"");
  EXPECT_THAT(all[0].values, ElementsAre(Pair("loss", 0.1 + 0.2), Pair("bleu", 27.3)));
}

TEST_F(MetricsLogTest, NumbersThatAreNotFiniteAreNull) {
  const double infinity = std::numeric_limits<double>::infinity();
  MetricsLog(path_).add(1, "train", {{"a", NAN}, {"b", infinity}, {"c", -infinity}});
  EXPECT_EQ(read_file(path_), "{\"step\":1,\"split\":\"train\",\"a\":null,\"b\":null,\"c\":null}\n");
  const auto all = MetricsLog::read(path_);
  for (const auto& [name, value] : all.at(0).values) EXPECT_TRUE(std::isnan(value)) << name;
}

TEST_F(MetricsLogTest, ASecondLogAddsToTheFirst) {
  MetricsLog(path_).add(1, "train", {});
  MetricsLog(path_).add(2, "train", {});
  EXPECT_THAT(steps(), ElementsAre(1, 2));
}

TEST_F(MetricsLogTest, ANameThatComesTwiceIsRefused) {
  MetricsLog log(path_);
  EXPECT_THROW(log.add(1, "train", {{"loss", 1}, {"loss", 2}}), InvalidInput);
  EXPECT_THROW(log.add(1, "train", {{"step", 1}}), InvalidInput);
  EXPECT_EQ(read_file(path_), "");
}

TEST_F(MetricsLogTest, BytesThatAreNotUtf8AreReplaced) {
  MetricsLog(path_).add(1, "a\xFF", {});
  EXPECT_EQ(MetricsLog::read(path_).at(0).split, "a\uFFFD");
}

TEST_F(MetricsLogTest, LaterLinesAreDroppedWhereverTheyStand) {
  {
    MetricsLog log(path_);
    for (const int64_t step : {10, 20, 30, 20, 40, 5}) log.add(step, "train", {{"loss", 1.25}});
  }
  MetricsLog::drop_after(path_, 20);
  EXPECT_THAT(steps(), ElementsAre(10, 20, 20, 5));
  MetricsLog(path_).add(30, "train", {});
  EXPECT_THAT(steps(), ElementsAre(10, 20, 20, 5, 30));
}

TEST_F(MetricsLogTest, KeptLinesKeepTheirBytes) {
  write("{ \"step\": 1,  \"split\":\"train\", \"loss\":1.50 }\n{\"step\":2,\"split\":\"train\"}\n");
  MetricsLog::drop_after(path_, 1);
  EXPECT_EQ(read_file(path_), "{ \"step\": 1,  \"split\":\"train\", \"loss\":1.50 }\n");
}

TEST_F(MetricsLogTest, ATornLastLineIsDropped) {
  const std::string whole = "{\"step\":1,\"split\":\"train\",\"loss\":2.5}\n";
  for (size_t length = 1; length < whole.size() - 1; ++length) {
    write(whole + whole.substr(0, length));
    EXPECT_EQ(MetricsLog::read(path_).size(), 1u) << length;
    MetricsLog::drop_after(path_, 5);
    EXPECT_EQ(read_file(path_), whole) << length;
  }
  write(whole + std::string(4, '\0'));
  MetricsLog::drop_after(path_, 5);
  EXPECT_EQ(read_file(path_), whole);
}

TEST_F(MetricsLogTest, ALastLineThatLacksOnlyItsEndIsKept) {
  write("{\"step\":1,\"split\":\"train\"}");
  MetricsLog::drop_after(path_, 5);
  EXPECT_EQ(read_file(path_), "{\"step\":1,\"split\":\"train\"}\n");
}

TEST_F(MetricsLogTest, DroppingFromNothingIsFine) {
  MetricsLog::drop_after(path_, 5);
  EXPECT_FALSE(std::filesystem::exists(path_));
  write("");
  MetricsLog::drop_after(path_, 5);
  EXPECT_EQ(read_file(path_), "");
}

TEST_F(MetricsLogTest, AFileWithNothingToDropIsNotWrittenAgain) {
  write("{\"step\":1,\"split\":\"train\"}\n");
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(path_, old);
  MetricsLog::drop_after(path_, 1);
  EXPECT_EQ(std::filesystem::last_write_time(path_), old);
}

TEST_F(MetricsLogTest, AForeignLineIsRefusedWithItsPlace) {
  const std::string good = "{\"step\":1,\"split\":\"train\"}\n";
  for (const std::string bad :
       {"text", "", "[1]", "{\"split\":\"train\"}", "{\"step\":1}", "{\"step\":1.5,\"split\":\"train\"}",
        "{\"step\":\"1\",\"split\":\"train\"}", "{\"step\":1,\"split\":\"train\",\"loss\":\"x\"}"}) {
    write(good + bad + "\n" + good);
    const std::string before = read_file(path_);
    for (const bool drop : {false, true}) {
      try {
        drop ? MetricsLog::drop_after(path_, 0) : static_cast<void>(MetricsLog::read(path_));
        ADD_FAILURE() << bad;
      } catch (const InvalidInput& error) {
        EXPECT_THAT(error.what(), ::testing::StartsWith(path_ + ":2: not a line of metrics")) << bad;
      }
    }
    EXPECT_EQ(read_file(path_), before);
  }
}

TEST_F(MetricsLogTest, AMixtureThatIsNotFiniteIsReadBack) {
  MetricsLog(path_).add_rows(5, "mixture", {{"a", {{NAN, 1}}}, {"b", {{0, NAN}, {1, 0}}}});
  const auto all = MetricsLog::read(path_);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(std::isnan(all[0].rows.at(0).second.at(0).at(0)));
  EXPECT_TRUE(std::isnan(all[0].rows.at(1).second.at(0).at(1)));
  EXPECT_EQ(all[0].rows.at(1).second.at(1), (std::vector<double>{1, 0}));
  MetricsLog::drop_after(path_, 5);
  EXPECT_EQ(MetricsLog::read(path_).size(), 1u);
}

TEST(MetricsText, IsParsedWithoutAFile) {
  const std::string text =
      "{\"step\":1,\"split\":\"train\",\"seconds\":4.5}\n{\"step\":1,\"split\":\"dev\",\"loss\":2}\n";
  const auto all = parse_metrics("x", text);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].seconds, 4.5) << "of the training line before it";
  EXPECT_EQ(all[1].value("loss"), 2);
  EXPECT_EQ(all[1].value("bleu"), std::nullopt);
  EXPECT_EQ(metrics_until("x", text + "{\"step\":2,\"split\":\"dev\"}\n{\"st", 1), text);
}

TEST(MetricsText, StepsThatAreNoneAreRefused) {
  for (const char* step : {"-1", "1e3", "18446744073709551615", "null", "[1]"}) {
    const std::string line = std::string("{\"step\":") + step + ",\"split\":\"train\"}\n";
    EXPECT_THROW(parse_metrics("x", line), InvalidInput) << step;
  }
}

TEST_F(MetricsLogTest, AMissingFileCannotBeRead) {
  EXPECT_THROW(MetricsLog::read(path_), InvalidInput);
}

}  // namespace
}  // namespace synthesizer
