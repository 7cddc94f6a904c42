// The bootstrap beside sacreBLEU's, in the same resamples (bootstrap_cases.h) and in our own.

#include <gmock/gmock.h>

#include "metric/bootstrap.h"
#include "metric/bootstrap_cases.h"
#include "metric/registry.h"
#include "metric/tolerance.h"

namespace synthesizer::testing {
namespace {

ResampledScore of(const std::string& metric, const Segments& hypotheses) {
  return resampled(find_metric(metric), hypotheses, {kReferences}).front().second;
}

/// The resamples of the fixture, one after another.
Draw drawn_before() {
  return [next = size_t{0}](std::span<uint32_t> segments) mutable {
    const std::string& letters = kDrawn.at(next++);
    for (size_t i = 0; i < segments.size(); ++i) segments[i] = static_cast<uint32_t>(letters[i] - 'a');
  };
}

class SacrebleuCase : public ::testing::TestWithParam<BootstrapCase> {
 protected:
  std::vector<ResampledScore> systems() const {
    return {of(GetParam().metric, kFirst), of(GetParam().metric, kSecond)};
  }
};

TEST_P(SacrebleuCase, has_the_same_score_in_every_resample) {
  const auto both = systems();
  std::vector<uint32_t> segments(kReferences.size());
  for (size_t s = 0; s < both.size(); ++s) {
    const Draw draw = drawn_before();
    for (const double expected : GetParam().scores[s]) {
      draw(segments);
      EXPECT_NEAR(both[s]->score(segments), expected, kTolerance);
    }
  }
}

TEST_P(SacrebleuCase, has_the_same_mean_interval_and_p_value) {
  const auto results = paired_bootstrap(systems(), static_cast<int64_t>(kDrawn.size()), drawn_before());
  ASSERT_EQ(results.size(), 2u);
  for (size_t s = 0; s < results.size(); ++s) {
    EXPECT_NEAR(results[s].score, GetParam().score[s], kTolerance);
    EXPECT_NEAR(results[s].mean, GetParam().mean_and_ci[s].first, kTolerance);
    EXPECT_NEAR(results[s].half_width(), GetParam().mean_and_ci[s].second, kTolerance);
  }
  EXPECT_FALSE(results[0].p_value);
  EXPECT_NEAR(results[1].p_value.value(), GetParam().p_value, kTolerance);
}

TEST_P(SacrebleuCase, has_like_intervals_with_our_own_draws) {
  const auto results = paired_bootstrap(systems(), {20000, 1});
  for (size_t s = 0; s < results.size(); ++s) {
    // Of 60 resamples the ends are themselves known to a third of the half width or so.
    EXPECT_NEAR(results[s].half_width() / GetParam().mean_and_ci[s].second, 1, 0.35);
    EXPECT_NEAR(results[s].mean, GetParam().mean_and_ci[s].first, GetParam().mean_and_ci[s].second / 4);
  }
}

INSTANTIATE_TEST_SUITE_P(Bootstrap, SacrebleuCase, ::testing::ValuesIn(kBootstrapCases),
                         [](const auto& info) { return info.param.metric; });

}  // namespace
}  // namespace synthesizer::testing
