// Scores of labels against the numbers of scikit-learn 1.9.1.

#include "metric/classify.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "metric/tolerance.h"

namespace synthesizer::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const Segments kPredictedLabels = {"a", "b", "c", "a", "b", "a", "d", "c", "a", "b"};
const Segments kGoldLabels = {"a", "b", "a", "a", "c", "b", "a", "c", "a", "b"};
const Segments kAnswers = {"yes", "no", "yes", "yes", "no", "no"};
const Segments kRight = {"yes", "yes", "no", "yes", "no", "no"};

TEST(Classify, agrees_with_scikit_learn_on_many_labels) {
  EXPECT_NEAR(accuracy(kPredictedLabels, kGoldLabels), 60.0, kTolerance);
  EXPECT_NEAR(macro_f1(kPredictedLabels, kGoldLabels), 45.833333333333, kTolerance);
  EXPECT_NEAR(matthews(kPredictedLabels, kGoldLabels), 40.984429998527, kTolerance);
}

TEST(Classify, agrees_with_scikit_learn_on_two_labels) {
  EXPECT_NEAR(accuracy(kAnswers, kRight), 66.666666666667, kTolerance);
  EXPECT_NEAR(macro_f1(kAnswers, kRight), 66.666666666667, kTolerance);
  EXPECT_NEAR(f1_binary(kAnswers, kRight, "yes"), 66.666666666667, kTolerance);
  EXPECT_NEAR(matthews(kAnswers, kRight), 33.333333333333, kTolerance);
}

TEST(Classify, of_one_label_has_no_correlation) {
  EXPECT_EQ(matthews({"a", "a"}, {"a", "b"}), 0);
  EXPECT_EQ(matthews({"a", "a"}, {"a", "a"}), 0);
  EXPECT_EQ(f1_binary({"a", "a"}, {"a", "b"}, "c"), 0);
}

TEST(Classify, takes_no_notice_of_space_behind_labels) {
  EXPECT_EQ(accuracy({"a ", "b\t"}, {"a", "b"}), 100);
}

TEST(Classify, refuses_what_does_not_fit) {
  EXPECT_THAT(
      [] {
        accuracy({"a"}, {"a", "b"});
      },
      ThrowsMessage<InvalidInput>(HasSubstr("1 hypotheses but 2")));
  EXPECT_THAT([] { macro_f1({}, {}); }, ThrowsMessage<InvalidInput>(HasSubstr("nothing to score")));
}

TEST(ClassifyMetric, has_an_f1_where_it_is_told_of_which_label) {
  const auto plain = score(classify_metric(), kAnswers, {kRight});
  EXPECT_EQ(plain.text, "accuracy = 66.67, macro_f1 = 66.67, matthews = 33.33");
  const auto result = score(classify_metric(), kAnswers, {kRight}, {{"positive", "yes"}});
  EXPECT_EQ(result.text, "accuracy = 66.67, macro_f1 = 66.67, f1 = 66.67, matthews = 33.33");
}

TEST(ClassifyMetric, refuses_labels_nobody_has_and_two_references) {
  EXPECT_THAT(
      [] {
        score(classify_metric(), {"maybe"}, {{"yes"}}, {{"positive", "maybe"}});
      },
      ThrowsMessage<InvalidInput>(HasSubstr("'maybe', a label that no reference has (there are yes)")));
  EXPECT_THAT(
      [] {
        score(classify_metric(), {"a"}, {{"a"}, {"b"}});
      },
      ThrowsMessage<InvalidInput>(HasSubstr("classify takes one reference a segment, and 2 were")));
}

}  // namespace
}  // namespace synthesizer::testing
