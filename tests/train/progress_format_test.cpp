#include "train/progress_format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace synthesizer {
namespace {

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
