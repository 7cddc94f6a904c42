// Correlations against the numbers of SciPy 1.17.1.

#include "metric/regress.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "metric/tolerance.h"

namespace synthesizer::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const std::vector<double> kPredictedNumbers = {1, 2.5, 2.5, -3, 4e1, .5}, kGoldNumbers = {2, 2, 3, -1, 5, 5};

template <class Matcher>
void expect_numbers_refused(const Segments& predicted, const References& gold, const Matcher& message) {
  EXPECT_THAT([&] { score(regress_metric(), predicted, gold); }, ThrowsMessage<InvalidInput>(message));
}

TEST(Regress, agrees_with_scipy) {
  EXPECT_NEAR(pearson(kPredictedNumbers, kGoldNumbers), 57.146163908845, kTolerance);
  EXPECT_NEAR(spearman(kPredictedNumbers, kGoldNumbers), 49.259218307189, kTolerance);
  EXPECT_NEAR(pearson(kGoldNumbers, kGoldNumbers), 100, kTolerance);
  EXPECT_NEAR(spearman(std::vector{1., 2., 3.}, std::vector{9., 3., -1.}), -100, kTolerance);
}

TEST(RegressMetric, reads_numbers) {
  const auto result =
      score(regress_metric(), {"1", " 2.5 ", "2.5", "-3", "4e1", "+.5"}, {{"2", "2", "3", "-1", "5", "5"}});
  EXPECT_EQ(std::get<double>(result.values[0].second), pearson(kPredictedNumbers, kGoldNumbers));
  EXPECT_EQ(std::get<double>(result.values[1].second), spearman(kPredictedNumbers, kGoldNumbers));
}

TEST(RegressMetric, refuses_lines_that_are_no_numbers) {
  for (const std::string line : {"two", "", "1 2", "nan", "inf", "1,5", "3x"}) {
    expect_numbers_refused({"1", line}, {{"1", "2"}},
                           HasSubstr("line 2 of the hypotheses is '" + line + "'"));
  }
  expect_numbers_refused({"1", "2"}, {{"x", "2"}}, HasSubstr("line 1 of the references is 'x'"));
}

TEST(RegressMetric, refuses_numbers_that_are_all_equal_and_two_references) {
  expect_numbers_refused({"1", "1"}, {{"1", "2"}},
                         HasSubstr("undefined where all numbers are equal, and those of the hyp"));
  expect_numbers_refused({"1", "2"}, {{"3", "3"}}, HasSubstr("those of the references are"));
  expect_numbers_refused({"1"}, {{"1"}}, HasSubstr("undefined"));
  expect_numbers_refused({"1", "2"}, {{"1", "2"}, {"1", "2"}}, HasSubstr("regress takes one reference"));
  EXPECT_THAT([] { pearson(std::vector{1.}, kGoldNumbers); },
              ThrowsMessage<InvalidInput>(HasSubstr("needs pairs")));
}

}  // namespace
}  // namespace synthesizer::testing
