#include "base/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace synthesizer {
namespace {

TEST(NumberText, BytesHaveUnits) {
  EXPECT_EQ(byte_text(12'300), "12 kB");
  EXPECT_EQ(byte_text(150e6), "150 MB");
  EXPECT_EQ(byte_text(23.6e9), "23.6 GB");
  EXPECT_EQ(byte_text(8e12), "8.0 TB");
}

TEST(NumberText, NumbersHaveThousands) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(with_thousands(1000), "1,000");
  EXPECT_EQ(with_thousands(1234567), "1,234,567");
  EXPECT_EQ(with_thousands(-999), "-999");
  EXPECT_EQ(with_thousands(-123456), "-123,456");
  EXPECT_EQ(with_thousands(INT64_MIN), "-9,223,372,036,854,775,808");
}

TEST(NumberText, DurationsReadAsOnAClock) {
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

TEST(RealText, IsNeverThatOfAWholeNumber) {
  EXPECT_EQ(real_text(1000), "1000.0");
  EXPECT_EQ(real_text(-0.5), "-0.5");
  EXPECT_EQ(real_text(1e30), "1e+30");
  EXPECT_EQ(real_text(0), "0.0");
}

}  // namespace
}  // namespace synthesizer
