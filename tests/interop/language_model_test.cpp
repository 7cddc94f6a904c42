// An imported GPT-2 against what transformers computes with the same folder.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "interop/import_model.h"
#include "interop/references.h"
#include "model/prepare.h"
#include "task/language_modelling.h"

namespace synthesizer {
namespace {

using testing::Reference;

class LanguageModelImport : public ::testing::Test {
 protected:
  LanguageModelImport() : reference_("gpt2"), task_(import_model({reference_.folder, {}})) {}
  LanguageModelTask& task() { return dynamic_cast<LanguageModelTask&>(*task_); }

  Reference reference_;
  std::unique_ptr<Task> task_;
};

TEST_F(LanguageModelImport, HasTheLogitsOfAPaddedBatch) {
  c10::NoGradGuard no_grad;
  auto& model = dynamic_cast<LanguageModel&>(task().model());
  const auto& given = reference_.tensors;
  for (const bool prepared : {false, true}) {
    if (prepared) prepare_for_inference(model);
    const auto logits = model.output().logits(model.forward(given.at("tokens"), given.at("lengths")));
    EXPECT_LT(testing::largest_difference(logits, given.at("logits"), given.at("lengths")), 1e-4);
  }
}

TEST_F(LanguageModelImport, HasTheSameTokensAndGivesTheTextBack) {
  const Tokenizer& tokenizer = *task().tokenizers().target;
  const auto lines = reference_.expected["lines"].get<std::vector<std::string>>();
  for (size_t n = 0; n < lines.size(); ++n) {
    const Tokens ours = tokenizer.encode(lines[n]);
    EXPECT_EQ(ours, reference_.expected["tokens"][n].get<Tokens>()) << lines[n];
    if (lines[n].find("<|") == std::string::npos) {
      EXPECT_EQ(tokenizer.decode(ours), lines[n]);
    }
  }
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("a\xFFz")), "a\xEF\xBF\xBDz");
  const auto again = parse_tokenizer(tokenizer.serialized(), "again");
  EXPECT_EQ(again->encode(lines[0]), tokenizer.encode(lines[0]));
}

TEST_F(LanguageModelImport, GoesOnAsGreedySearchDoes) {
  prepare_for_inference(task().model());
  const auto lines = reference_.expected["lines"].get<std::vector<std::string>>();
  DecodeOptions options;
  options.temperature = 0;
  for (size_t n = 0; n < lines.size(); ++n) {
    const std::string text = task().generate(lines[n], 16, options, {});
    EXPECT_EQ(text, reference_.expected["written"][n].get<std::string>()) << lines[n];
  }
}

}  // namespace
}  // namespace synthesizer
