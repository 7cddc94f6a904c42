// A trained attention as one member of a mixture: the same output, and gradients for what is new.

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include "base/error.h"
#include "base/parameter_names.h"
#include "inspect/extend_attention.h"
#include "inspect/tasks.h"
#include "train/named_tensors.h"

namespace synthesizer {
namespace {

using testing::fields_of;
using ::testing::HasSubstr;
using testing::small_model;
using testing::small_task;

/// Start values of biases hide mistakes.
std::unique_ptr<Task> shaken_task(const std::string& name, ModelOptions model) {
  model.attention_options.set("query_bias", true);
  auto task = small_task(name, model);
  c10::NoGradGuard no_grad;
  for (const at::Tensor& tensor : task->model().parameters())
    at::Tensor(tensor).add_(at::randn_like(tensor), 0.1);
  return task;
}

TEST(ExtendAttention, ComputesWhatItDid) {
  for (const std::string spec : {"R+V", "FR+V", "D+V", "V+FD", "R+D+V", "R+FR+D+V"}) {
    for (const char* name : {"language-model", "translation", "classification"}) {
      const auto task = shaken_task(name, small_model("V"));
      const auto made = extend_attention(*task, spec, 3);
      const auto example = fields_of(*task, "abc def");
      EXPECT_NEAR(made->log_probabilities({example})[0], task->log_probabilities({example})[0], 1e-5)
          << spec << " " << name;
      EXPECT_EQ(made->recipe().model.attention, std::vector<std::string>{spec});
    }
  }
}

TEST(ExtendAttention, WithTwoMembersToTheBit) {
  const auto task = shaken_task("language-model", small_model("V"));
  const auto made = extend_attention(*task, "R+V");
  const auto example = fields_of(*task, "abc def");
  EXPECT_EQ(made->log_probabilities({example})[0], task->log_probabilities({example})[0]);
}

TEST(ExtendAttention, OtherAttentionsAndPlainSumsToo) {
  for (const char* had : {"R", "D", "FR", "FD"}) {
    auto model = small_model(had);
    model.attention_options.set("weights", std::string("sum"));
    const auto task = small_task("language-model", model);
    const auto made = extend_attention(*task, std::string(had) + "+V");
    const auto example = fields_of(*task, "abc def");
    EXPECT_NEAR(made->log_probabilities({example})[0], task->log_probabilities({example})[0], 1e-5) << had;
  }
}

TEST(ExtendAttention, WhatIsNewHasGradients) {
  for (const std::string member : {"R", "FR", "D", "FD"}) {
    const auto task = shaken_task("language-model", small_model("V"));
    const auto made = extend_attention(*task, member + "+V");
    made->loss(made->batch_of(fields_of(*made, "abc def"))).loss.backward();
    double new_member = 0, mixture = 0;
    for (const NamedTensor& one : trained_tensors(made->model())) {
      if (!one.tensor.grad().defined()) continue;
      const double size = one.tensor.grad().abs().sum().item<double>();
      if (one.name.find("logits." + member + ".") != std::string::npos) new_member += size;
      if (one.name.ends_with(kMixtureName)) mixture += size;
    }
    EXPECT_GT(new_member, 1e-4) << member;
    EXPECT_GT(mixture, 1e-6) << member;
  }
}

TEST(ExtendAttention, RefusesWhatCannotBe) {
  auto complaint = [](const std::string& had, const std::string& spec) -> std::string {
    const auto task = small_task("language-model", small_model(had));
    try {
      extend_attention(*task, spec);
    } catch (const InvalidInput& mistake) {
      return mistake.what();
    }
    return "no complaint";
  };
  EXPECT_THAT(complaint("V", "R+D"), HasSubstr("a layer has V"));
  EXPECT_THAT(complaint("V", "V"), HasSubstr("mixture"));
  EXPECT_THAT(complaint("R+V", "R+V"), HasSubstr("a layer has R+V"));
  EXPECT_THAT(complaint("V", "Fix+V"), HasSubstr("Fix"));
  EXPECT_THAT(complaint("light-conv:3", "R+V"), HasSubstr("light-conv"));
}

}  // namespace
}  // namespace synthesizer
