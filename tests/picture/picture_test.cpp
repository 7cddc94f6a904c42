// Pictures: files of the right kind and size, colours where the values say, axes with round numbers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "base/error.h"
#include "picture/axis.h"
#include "picture/heat_grid.h"
#include "picture/line_chart.h"

namespace synthesizer::picture {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::string> texts(const Axis& axis, int wanted) {
  std::vector<std::string> all;
  for (const auto& [value, text] : axis.marks(wanted)) all.push_back(text);
  return all;
}

/// But for the line with the number of the drawing, which counts on.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.find("id=\"surface") == line.npos) lines.push_back(line);
  }
  return lines;
}

HeatGrid small_grid() {
  HeatGrid grid;
  grid.title = "title";
  grid.panels = {{"head 1", 2, 3, {0, 0.2, 0.4, 0.6, 0.8, 1}}};
  grid.row_labels = {"é", "▁zwei"};
  grid.column_labels = {"a", "b", "c"};
  return grid;
}

TEST(Axis, MarksAreRoundNumbersWithinTheEnds) {
  EXPECT_THAT(texts(Axis(0, 1, false), 5), ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1"));
  EXPECT_THAT(texts(Axis(-3, 4, false), 4), ElementsAre("-2", "0", "2", "4"));
  EXPECT_THAT(texts(Axis(0, 40000, false), 4), ElementsAre("0", "10k", "20k", "30k", "40k"));
  EXPECT_THAT(texts(Axis(1e-5, 1, true), 5), ElementsAre("1e-05", "0.0001", "0.001", "0.01", "0.1", "1"));
}

TEST(Axis, SharesGoFromTheLowEndToTheHighOne) {
  EXPECT_DOUBLE_EQ(Axis(2, 6, false).share(3), 0.25);
  EXPECT_DOUBLE_EQ(Axis(0.01, 1, true).share(0.1), 0.5);
  EXPECT_TRUE(std::isfinite(Axis(3, 3, false).share(3)));
}

TEST(Colours, ViridisGoesFromDarkBlueToYellowAndGetsBrighter) {
  auto brightness = [](double share) {
    const Colour c = viridis(share);
    return 0.2126 * c.red + 0.7152 * c.green + 0.0722 * c.blue;
  };
  for (double share = 0; share < 0.99; share += 0.05) EXPECT_LT(brightness(share), brightness(share + 0.05));
  EXPECT_NEAR(viridis(0).blue, 0.329, 0.02);
  EXPECT_NEAR(viridis(1).red, 0.993, 0.02);
  EXPECT_EQ(viridis(7).red, viridis(1).red);
}

TEST(Colours, BothSidesOfZeroDiffer) {
  EXPECT_GT(diverging(0).blue, diverging(0).red);
  EXPECT_GT(diverging(1).red, diverging(1).blue);
  EXPECT_GT(diverging(0.5).red, 0.9);
}

TEST(Pictures, AreOfTheKindThatIsAsked) {
  EXPECT_THAT(draw(small_grid(), Format::png), StartsWith("\x89PNG\r\n"));
  EXPECT_THAT(draw(small_grid(), Format::svg), HasSubstr("<svg"));
  EXPECT_EQ(format_of("svg"), Format::svg);
  EXPECT_THROW(format_of("gif"), InvalidInput);
}

TEST(Pictures, EachCellHasTheColourOfItsValue) {
  const auto before = lines_of(draw(small_grid(), Format::svg));
  for (size_t cell = 0; cell < 6; ++cell) {
    HeatGrid changed = small_grid();
    changed.panels[0].values[cell] = std::numeric_limits<double>::quiet_NaN();
    const auto after = lines_of(draw(changed, Format::svg));
    ASSERT_EQ(after.size(), before.size());
    size_t different = 0;
    for (size_t n = 0; n < after.size(); ++n) different += after[n] == before[n] ? 0 : 1;
    EXPECT_EQ(different, 1u) << cell;
  }
}

TEST(Pictures, NothingToShowIsNoReasonToFail) {
  EXPECT_THAT(draw(HeatGrid{}, Format::png), StartsWith("\x89PNG"));
  LineCharts charts;
  charts.charts = {{"empty", "x", "y", {}}, {"nan", "x", "y", {{"a", {1, 2}, {NAN, NAN}}}}};
  EXPECT_THAT(draw(charts, Format::svg), HasSubstr("<svg"));
  charts.x_logarithmic = charts.y_logarithmic = true;
  EXPECT_THAT(draw(charts, Format::svg), HasSubstr("<svg"));
}

TEST(Pictures, ALineGoesWhereItsValuesAre) {
  LineCharts charts;
  charts.charts = {{"chart", "x", "y", {{"a", {0, 1, 2}, {0, 1, 4}}}}};
  const std::string rising = draw(charts, Format::svg);
  charts.charts[0].series[0].y = {4, 1, 0};
  EXPECT_NE(rising, draw(charts, Format::svg));
}

}  // namespace
}  // namespace synthesizer::picture
