// Imported classifiers of BERT against what transformers computes with the same folder.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "interop/import_model.h"
#include "interop/references.h"
#include "model/classifier.h"
#include "model/prepare.h"
#include "task/classification.h"

namespace synthesizer {
namespace {

using testing::Reference;

class ClassifierImport : public ::testing::TestWithParam<const char*> {
 protected:
  ClassifierImport() : reference_(GetParam()), task_(import_model({reference_.folder, {}})) {}
  ClassificationTask& task() { return dynamic_cast<ClassificationTask&>(*task_); }

  Reference reference_;
  std::unique_ptr<Task> task_;
};

TEST_P(ClassifierImport, HasTheLogitsOfAPaddedBatch) {
  c10::NoGradGuard no_grad;
  auto& model = dynamic_cast<Classifier&>(task().model());
  const auto& given = reference_.tensors;
  for (const bool prepared : {false, true}) {
    if (prepared) prepare_for_inference(model);
    const auto logits = model.logits(model.forward(given.at("tokens"), given.at("lengths")));
    EXPECT_LT((logits - given.at("logits")).abs().max().item<double>(), 1e-4);
  }
}

TEST_P(ClassifierImport, HasTheSameTokensAndLabels) {
  prepare_for_inference(task().model());
  const Tokenizer& tokenizer = *task().tokenizers().source;
  const auto lines = reference_.expected["lines"].get<std::vector<std::string>>();
  for (size_t n = 0; n < lines.size(); ++n) {
    Tokens ours = {tokenizer.begin()};
    const Tokens text = tokenizer.encode(lines[n]);
    ours.insert(ours.end(), text.begin(), text.end());
    ours.push_back(tokenizer.end());
    EXPECT_EQ(ours, reference_.expected["tokens"][n].get<Tokens>()) << lines[n];
  }
  std::vector<std::string> remarks, labels;
  for (const auto& result : task().classify(lines, 1000, LongLine::error, 1, remarks))
    labels.push_back(result.label);
  EXPECT_EQ(labels, reference_.expected["labels"].get<std::vector<std::string>>());
  EXPECT_EQ(parse_tokenizer(tokenizer.serialized(), "again")->encode(lines[5]), tokenizer.encode(lines[5]));
}

INSTANTIATE_TEST_SUITE_P(Families, ClassifierImport, ::testing::Values("bert", "bert-cased"));

}  // namespace
}  // namespace synthesizer
