#include "report/packed_matrix.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"

namespace synthesizer {
namespace {

using nlohmann::json;

TEST(PackedMatrix, OfWeightsGoesFromZeroToTheLargest) {
  const auto packed = packed_matrix(std::vector<float>{0.5F, 0.125F, 0, 0.5F, 0.5F, 0.5F}, 2, 3);
  EXPECT_EQ(
      packed,
      (json{{"rows", 2}, {"columns", 3}, {"low", 0.0}, {"high", 0.5}, {"power", 2}, {"data", "/4AA////"}}));
}

TEST(PackedMatrix, OfLogitsKeepsBothSigns) {
  const auto packed = packed_matrix(std::vector<float>{-1, 1}, 1, 2);
  EXPECT_EQ(packed["low"], -1);
  EXPECT_EQ(packed["high"], 1);
  EXPECT_EQ(packed["power"], 1);
  EXPECT_EQ(packed["data"], "AP8=");  // bytes 0 and 255
}

TEST(PackedMatrix, KeepsSmallWeightsApartBesideALargeOne) {
  // 1/128 and 1/100 are bytes 23 and 26 (0x17, 0x1a): a step of one byte would make them 2 and 3 of 255.
  EXPECT_EQ(packed_matrix(std::vector<float>{1, 1.0F / 128, 0.01F}, 1, 3)["data"], "/xca");
}

TEST(PackedMatrix, EndsItsTextAsBase64Does) {
  EXPECT_EQ(packed_matrix(std::vector<float>{1}, 1, 1)["data"], "/w==");
  EXPECT_EQ(packed_matrix(std::vector<float>{1, 1}, 1, 2)["data"], "//8=");
  EXPECT_EQ(packed_matrix(std::vector<float>{1, 1, 1}, 1, 3)["data"], "////");
}

TEST(PackedMatrix, TakesWhatIsNotFiniteForZero) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  const auto packed = packed_matrix(std::vector<float>{nan, -infinity, 2}, 1, 3);
  EXPECT_EQ(packed["low"], 0);
  EXPECT_EQ(packed["high"], 2);
  EXPECT_EQ(packed["data"], "AAD/");
}

TEST(PackedMatrix, OfNothingButZerosIsNotDividedByZero) {
  EXPECT_EQ(packed_matrix(std::vector<float>{0, 0, 0}, 3, 1)["data"], "AAAA");
  EXPECT_EQ(packed_matrix({}, 0, 0)["data"], "");
}

TEST(PackedMatrix, RefusesAnotherNumberOfValues) {
  EXPECT_THROW(packed_matrix(std::vector<float>{1, 2, 3}, 2, 2), InvalidInput);
}

}  // namespace
}  // namespace synthesizer
