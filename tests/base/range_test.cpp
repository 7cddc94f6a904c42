#include "base/range.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace synthesizer {
namespace {

template <typename F>
std::string complaint(F f) {
  try {
    f();
  } catch (const InvalidInput& mistake) {
    return mistake.what();
  }
  return "";
}

TEST(Range, NamesTheKeyTheValueAndWhatIsAllowed) {
  EXPECT_EQ(complaint([] { check_at_least("train.steps", -1, 0); }),
            "train.steps is -1: it must be at least 0");
  EXPECT_EQ(complaint([] { check_fraction("model.dropout", 1); }),
            "model.dropout is 1: it must be at least 0 and below 1");
  EXPECT_EQ(complaint([] { check_not_negative("train.clip", INFINITY); }),
            "train.clip is inf: it must be a finite number of at least 0");
  EXPECT_EQ(complaint([] { check_positive("train.logit_learning_rate", 0); }),
            "train.logit_learning_rate is 0: it must be a finite number above 0");
  EXPECT_EQ(complaint([] {
              check_one_of("model.norm", "layr", {"layer", "rms"});
            }),
            "model.norm is \"layr\": it must be layer or rms, did you mean 'layer'?");
}

TEST(Range, LetsPassWhatIsAllowed) {
  EXPECT_EQ(complaint([] {
              check_at_least("a", 0, 0);
              check_fraction("a", 0);
              check_fraction("a", 0.999);
              check_not_negative("a", 0);
              check_positive("a", 1e-300);
              check_one_of("a", "rms", {"layer", "rms"});
            }),
            "");
}

TEST(Range, NotANumberIsNeverAllowed) {
  EXPECT_NE(complaint([] { check_fraction("a", NAN); }), "");
  EXPECT_NE(complaint([] { check_not_negative("a", NAN); }), "");
  EXPECT_NE(complaint([] { check_positive("a", NAN); }), "");
  EXPECT_NE(complaint([] { check_positive("a", INFINITY); }), "");
}

}  // namespace
}  // namespace synthesizer
