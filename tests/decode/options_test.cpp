// Every range of the decoding options is checked, in words that name the key.

#include "decode/options.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"
#include "decode/hypothesis.h"

namespace synthesizer::testing {
namespace {

struct Mistake {
  const char* name;
  DecodeOptions options;
  std::string message;
};

class DecodeOptionsMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(DecodeOptionsMistake, IsNamed) {
  try {
    check(GetParam().options);
    FAIL() << "accepted";
  } catch (const InvalidInput& e) {
    EXPECT_EQ(e.what(), GetParam().message);
  }
}

const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();

INSTANTIATE_TEST_SUITE_P(
    All, DecodeOptionsMistake,
    ::testing::Values(
        Mistake{"Beam", {.beam = 0}, "decode.beam is 0: it must be from 1 to 1024"},
        Mistake{"LargeBeam", {.beam = 1025}, "decode.beam is 1025: it must be from 1 to 1024"},
        Mistake{
            "Penalty", {.length_penalty = nan}, "decode.length_penalty is nan: it must be a finite number"},
        Mistake{"Minimum", {.min_length = -1}, "decode.min_length is -1: it must be at least 0"},
        Mistake{"Maximum", {.max_length = -2}, "decode.max_length is -2: it must be at least 0"},
        Mistake{"MaximumBelowMinimum",
                {.min_length = 5, .max_length = 4},
                "decode.max_length is 4: it must be 0 or at least decode.min_length, 5"},
        Mistake{"Nbest", {.nbest = 0}, "decode.nbest is 0: it must be at least 1"},
        Mistake{"NbestAboveBeam", {.nbest = 5}, "decode.nbest is 5: it must be at most decode.beam, 4"},
        Mistake{"Temperature",
                {.temperature = -0.5},
                "decode.temperature is -0.5: it must be a finite number of at least 0"},
        Mistake{"TemperatureNan",
                {.temperature = nan},
                "decode.temperature is nan: it must be a finite number of at least 0"},
        Mistake{"TemperatureInfinite",
                {.temperature = infinity},
                "decode.temperature is inf: it must be a finite number of at least 0"},
        Mistake{"TopK", {.top_k = -1}, "decode.top_k is -1: it must be at least 0"},
        Mistake{"TopP", {.top_p = 1.5}, "decode.top_p is 1.5: it must be between 0 and 1"},
        Mistake{"TopPNegative", {.top_p = -0.1}, "decode.top_p is -0.1: it must be between 0 and 1"},
        Mistake{"TopPNan", {.top_p = nan}, "decode.top_p is nan: it must be between 0 and 1"}),
    [](const auto& info) { return info.param.name; });

TEST(DecodeOptions, DefaultsAndEdgesAreAccepted) {
  EXPECT_NO_THROW(check({}));
  EXPECT_NO_THROW(check({.length_penalty = -1, .length_normalization = LengthNormalization::gnmt}));
  EXPECT_NO_THROW(check({.min_length = 5, .max_length = 0}));
  EXPECT_NO_THROW(check({.min_length = 5, .max_length = 5}));
  EXPECT_NO_THROW(check({.beam = 1, .nbest = 1, .temperature = 0, .top_p = 0}));
}

TEST(DecodeOptionList, HasEveryOptionOnce) {
  std::set<std::string> names;
  for (const DecodeOption& option : decode_option_list()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_FALSE(option.help.empty()) << option.name;
  }
  EXPECT_EQ(names.size(), 15u) << "a field of DecodeOptions belongs into the list";
}

TEST(LengthNorm, FollowsTheFormulas) {
  EXPECT_DOUBLE_EQ(length_norm(8, {.length_penalty = 0.5}), std::sqrt(8.0));
  EXPECT_DOUBLE_EQ(length_norm(7, {.length_penalty = 2, .length_normalization = LengthNormalization::gnmt}),
                   4);
  EXPECT_DOUBLE_EQ(length_norm(1, {.length_penalty = 0.6}), 1);
  EXPECT_DOUBLE_EQ(length_norm(9, {.length_penalty = 0}), 1);
}

}  // namespace
}  // namespace synthesizer::testing
