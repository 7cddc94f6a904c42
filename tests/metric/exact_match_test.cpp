#include "metric/exact_match.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "metric/bootstrap.h"

namespace synthesizer {
namespace {

double exact_match_of(const Segments& texts, const References& references) {
  return std::get<double>(score(exact_match_metric(), texts, references).values.front().second);
}

TEST(ExactMatch, CountsTextsThatAreTheSame) {
  EXPECT_EQ(exact_match_of({"one", "two", "three", ""}, {{"one", "Two", "three ", ""}}), 50);
}

TEST(ExactMatch, AnyOfTheReferencesWillDo) {
  EXPECT_EQ(exact_match_of({"one", "two"}, {{"1", "two"}, {"one", "2"}}), 100);
}

TEST(ExactMatch, NothingToScoreIsAnError) {
  EXPECT_THROW(exact_match_of({}, {{}}), InvalidInput);
  EXPECT_THROW(exact_match_of({"one"}, {{"one", "two"}}), InvalidInput);
}

/// The interval of a share is known: about 1.96 standard errors on each side.
TEST(ExactMatch, HasTheIntervalOfAShare) {
  Segments texts(400, "right"), reference(400, "right");
  for (size_t i = 0; i < 100; ++i) texts[i * 4] = "wrong";
  const auto scores = resampled(exact_match_metric(), texts, {reference});
  ASSERT_EQ(scores.size(), 1u);
  const BootstrapResult found = bootstrap(scores[0].second);
  EXPECT_EQ(found.score, 75);
  EXPECT_NEAR(found.half_width(), 196 * std::sqrt(0.75 * 0.25 / 400), 0.5);
}

}  // namespace
}  // namespace synthesizer
