// Every parameter of every kind of model has a role, which training decides by.

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include <stdexcept>

#include "attention/declared_module.h"
#include "model/classifier.h"
#include "model/encoder_decoder.h"
#include "model/language_model.h"
#include "model/models.h"

namespace synthesizer {
namespace {

using testing::kVocabulary;

/// What the role should be, by nothing but the name and the shape.
Role role_by_name(const std::string& name, const at::Tensor& tensor) {
  auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  if (has("norm.")) return Role::norm;
  if (has("embedding.") || has("positions.weight") || name.ends_with(".times")) return Role::embedding;
  for (const char* logits : {"positions.relative", ".table", ".FR.left", ".FR.right", ".logits.mixture",
                             ".out.bias", ".a.bias", ".b.bias"}) {
    if (name.ends_with(logits) && !has("feed_forward")) return Role::logits;
  }
  // A kernel for each head, and not one made from the token, whose rows are as wide as the model.
  if (name.ends_with("attention.kernel.weight") && tensor.size(1) != testing::small_model().width)
    return Role::logits;
  return name.ends_with("bias") ? Role::bias : Role::matrix;
}

void expect_all_declared(const torch::nn::Module& model) {
  const auto declared = declared_parameters(model);
  const auto named = model.named_parameters();
  ASSERT_EQ(declared.size(), named.size());
  for (size_t i = 0; i < declared.size(); ++i) {
    const std::string& name = named[i].key();
    EXPECT_EQ(declared[i].name, name);
    EXPECT_EQ(declared[i].shape, named[i].value().sizes().vec()) << name;
    EXPECT_EQ(declared[i].role, role_by_name(name, named[i].value())) << name;
    EXPECT_TRUE(declared[i].trained) << name;
  }
}

TEST(Roles, AreThoseOfEveryParameterOfEveryKindOfModel) {
  for (const ModelOptions& options : testing::kinds_of_models()) {
    SCOPED_TRACE(options.attention.front() + " " + choice_name(options.positions));
    expect_all_declared(LanguageModel(options, kVocabulary));
    expect_all_declared(EncoderDecoder(options, kVocabulary, kVocabulary, true));
    expect_all_declared(EncoderDecoder(options, kVocabulary, kVocabulary + 1, false));
    expect_all_declared(Classifier(options, kVocabulary, 3));
  }
}

TEST(Roles, AModuleByItselfHasThemToo) {
  const auto declared = declared_parameters(Linear(3, 2, true));
  ASSERT_EQ(declared.size(), 2u);
  EXPECT_EQ(declared[0].name, "weight");
  EXPECT_EQ(declared[0].role, Role::matrix);
  EXPECT_EQ(declared[1].role, Role::bias);
}

TEST(Roles, AParameterThatWasNotDeclaredIsAnError) {
  struct Forgetful : torch::nn::Module {
    Forgetful() {
      register_module("linear", std::make_shared<Linear>(3, 2, false));
      register_parameter("forgotten", at::ones({1}));
    }
  };
  try {
    declared_parameters(Forgetful());
    FAIL() << "no error";
  } catch (const std::logic_error& mistake) {
    EXPECT_NE(std::string(mistake.what()).find("'forgotten' has no role"), std::string::npos)
        << mistake.what();
  }
}

}  // namespace
}  // namespace synthesizer
