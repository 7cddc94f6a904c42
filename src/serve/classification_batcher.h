#pragma once

#include "serve/batcher.h"

namespace synthesizer {
class TextClassifier;
}

namespace synthesizer::serve {

/// Classifiers. Texts of equal length are labelled together, without padding, so that a result has exactly
/// the bits of the text alone.
class ClassificationBatcher : public Batcher {
 public:
  ClassificationBatcher(Task& task, int64_t batch, Metrics& metrics);

 protected:
  void choose() override;
  void work() override;
  bool under_way() const override { return !chosen_.empty(); }
  void fail_all(const std::exception_ptr& reason) override;

 private:
  Task* task_;
  TextClassifier* labeller_;
  std::vector<std::shared_ptr<ClassifyJob>> chosen_;
};

}  // namespace synthesizer::serve
