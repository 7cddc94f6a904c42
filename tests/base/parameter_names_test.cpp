#include "base/parameter_names.h"

#include <gtest/gtest.h>

#include <string>

namespace synthesizer {
namespace {

TEST(ParameterNames, SayWhatBelongsToS) {
  for (const char* name : {"logits.R.table", "logits.V.query.weight", "logits.mixture", "kernel.weight",
                           "query.weight", "key.weight", "project.key", "project.value"}) {
    EXPECT_TRUE(is_synthesis_parameter(name)) << name;
    EXPECT_TRUE(is_saved_synthesis_parameter(std::string("encoder.layers.0.attention.") + name)) << name;
    EXPECT_FALSE(is_saved_synthesis_parameter(std::string("decoder.layers.0.cross.") + name)) << name;
  }
  for (const char* name : {"value.weight", "output.weight", "output.bias", "in.weight", "gate.weight"}) {
    EXPECT_FALSE(is_synthesis_parameter(name)) << name;
    EXPECT_FALSE(is_saved_synthesis_parameter(std::string("encoder.layers.0.attention.") + name)) << name;
  }
}

TEST(ParameterNames, SayWhichTableIsFixed) {
  EXPECT_TRUE(is_saved_fixed_table("encoder.layers.0.attention.logits.Fix.table"));
  EXPECT_FALSE(is_saved_fixed_table("encoder.layers.0.attention.logits.R.table"));
}

}  // namespace
}  // namespace synthesizer
