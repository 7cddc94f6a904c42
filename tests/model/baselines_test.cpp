// Baselines as layers of a model: sizes of their own, other attention variants beside them, what recipes may
// not say.

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include "base/error.h"
#include "model/language_model.h"
#include "model/models.h"

namespace synthesizer {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(BaselineLayers, HaveSizesOfTheirOwn) {
  ModelOptions options = testing::small_model();
  options.layers = 4;
  options.attention = {"light-conv:3", "light-conv", "V", "light-conv:15"};
  options.attention_options = {{"kernel", 5}};
  check(options);
  const LanguageModel model(options, 7);
  const auto names = model.named_parameters();
  auto taps = [&](int layer) {
    return names["decoder.layers." + std::to_string(layer) + ".attention.kernel.weight"].size(1);
  };
  EXPECT_EQ(taps(0), 3);
  EXPECT_EQ(taps(1), 5);
  EXPECT_EQ(taps(3), 15);
  EXPECT_TRUE(names.contains("decoder.layers.2.attention.logits.V.key.weight"));
}

TEST(BaselineLayers, OptionsAreKnownByName) {
  ModelOptions options = testing::small_model();
  options.attention_options = {{"kernel", 5}, {"share_kv", true}};  // of others: one recipe serves several
  check(options);
  options.attention_options = {{"kernal", 5}};
  EXPECT_THAT([&] { check(options); }, ThrowsMessage<InvalidInput>(HasSubstr("did you mean 'kernel'?")));
}

TEST(BaselineLayers, AreRefusedWithTheKeyTheyCameFrom) {
  ModelOptions options = testing::small_model("linformer:4");
  EXPECT_THAT([&] { check(options); }, ThrowsMessage<InvalidInput>(AllOf(HasSubstr("model.attention"),
                                                                         HasSubstr("cannot be causal"))));
  check(options, {Side::encoder});  // a classifier has no decoder
  options.decoder_attention = {"V"};
  check(options);
  options.attention = {"light-conv:4"};
  EXPECT_THAT([&] { check(options); },
              ThrowsMessage<InvalidInput>(AllOf(HasSubstr("model.attention"), HasSubstr("odd"))));
}

TEST(BaselineLayers, NeedRelativePositionsOnlyWhereNothingElseSaysTheOrder) {
  ModelOptions options = testing::small_model();
  options.positions = PositionKind::relative;
  options.attention = {"light-conv", "V"};
  check(options);
  options.attention = {"light-conv"};  // a kernel knows who stands where
  check(options);
  options.attention = {"linformer"};
  options.decoder_attention = {"V"};
  EXPECT_THAT([&] { check(options); },
              ThrowsMessage<InvalidInput>(AllOf(HasSubstr("model.positions"), HasSubstr("relative"))));
}

}  // namespace
}  // namespace synthesizer
