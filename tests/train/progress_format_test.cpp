#include "train/progress_format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace synthesizer {
namespace {

TEST(ProgressFormat, NumbersHaveThousands) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(with_thousands(1000), "1,000");
  EXPECT_EQ(with_thousands(1234567), "1,234,567");
  EXPECT_EQ(with_thousands(-999), "-999");
  EXPECT_EQ(with_thousands(-123456), "-123,456");
  EXPECT_EQ(with_thousands(INT64_MIN), "-9,223,372,036,854,775,808");
}

TEST(ProgressFormat, DurationsReadAsOnAClock) {
  EXPECT_EQ(duration(0), "0:00");
  EXPECT_EQ(duration(42), "0:42");
  EXPECT_EQ(duration(59.6), "1:00");
  EXPECT_EQ(duration(727), "12:07");
  EXPECT_EQ(duration(3727), "1:02:07");
  EXPECT_EQ(duration(86399), "23:59:59");
  EXPECT_EQ(duration(3 * 86400 + 4 * 3600 + 5 * 60 + 6), "3d 4:05:06");
  EXPECT_EQ(duration(-1), "?");
  EXPECT_EQ(duration(NAN), "?");
  EXPECT_EQ(duration(INFINITY), "?");
}

TEST(ProgressFormat, ColumnsAreThoseOfATerminal) {
  EXPECT_EQ(columns(""), 0);
  EXPECT_EQ(columns("abc"), 3);
  EXPECT_EQ(columns("größe"), 5);
  EXPECT_EQ(columns("━╸─"), 3);
  EXPECT_EQ(columns("大きい"), 6);
  EXPECT_EQ(columns("🙂"), 2);
  EXPECT_EQ(columns("e\u0301"), 1);
  EXPECT_EQ(columns("\xFF\xC3"), 2);
}

TEST(ProgressFormat, TextIsCutBetweenCharacters) {
  EXPECT_EQ(fit("größe", 5), "größe");
  EXPECT_EQ(fit("größe", 4), "grö…");
  EXPECT_EQ(fit("大きい", 6), "大きい");
  EXPECT_EQ(fit("大きい", 5), "大き…");
  EXPECT_EQ(fit("大きい", 4), "大…");
  EXPECT_EQ(fit("abc", 1), "…");
  EXPECT_EQ(fit("abc", 0), "");
  EXPECT_EQ(fit("abc", -1), "");
  EXPECT_EQ(fit("", 0), "");
}

TEST(ProgressFormat, WhatATerminalWouldTakeForACommandIsLeftOut) {
  EXPECT_EQ(fit("a\x1b[2Jb\n\t\x7F\u009Bc", 20), "a[2Jbc");
  EXPECT_EQ(fit("a\xFF\xC3(\xE2\x94", 20),
            "a?"
            "?(?"
            "?");
}

TEST(ProgressFormat, BarsGrowByHalves) {
  const auto whole = [](double fraction) { return bar(fraction, 4).done + "|" + bar(fraction, 4).left; };
  EXPECT_EQ(whole(0), "|────");
  EXPECT_EQ(whole(0.125), "╸|───");
  EXPECT_EQ(whole(0.25), "━|───");
  EXPECT_EQ(whole(0.99), "━━━╸|");
  EXPECT_EQ(whole(1), "━━━━|");
  EXPECT_EQ(whole(2), "━━━━|");
  EXPECT_EQ(whole(-1), "|────");
}

}  // namespace
}  // namespace synthesizer
