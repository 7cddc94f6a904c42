#include "task/classification.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "metric/registry.h"
#include "task/batch_tensors.h"
#include "task/open_lines.h"
#include "task/registry.h"
#include "text/label_tokenizer.h"

namespace synthesizer {
namespace {

/// A label, then the text in one column or several. Without a list of labels any will do.
class LabelShaper : public Shaper {
 public:
  explicit LabelShaper(std::vector<std::string> labels) : labels_(std::move(labels)) {}
  size_t fields() const override { return 2; }
  void shape(std::vector<std::string>& record, int64_t, const std::string& where,
             std::vector<std::vector<std::string>>& examples) override {
    if (record.size() < 2) invalid(fmt::format("{}: no text beside the label '{}'", where, record[0]));
    if (!labels_.empty() && std::find(labels_.begin(), labels_.end(), record[0]) == labels_.end()) {
      invalid(fmt::format("{}: label '{}' is none that training saw ({})", where, record[0],
                          fmt::join(labels_, ", ")));
    }
    std::string text = std::move(record[1]);
    for (size_t i = 2; i < record.size(); ++i) text += " " + record[i];
    examples.push_back({std::move(record[0]), std::move(text)});
  }

 private:
  std::vector<std::string> labels_;
};

}  // namespace

void ClassificationTask::shape(const Recipe& recipe, Files& files) {
  files.shaper = [labels = recipe.data.labels] { return std::make_unique<LabelShaper>(labels); };
  files.shape = "classification";
}

void ClassificationTask::complete(Recipe& recipe) {
  if (!recipe.data.labels.empty() || recipe.data.train.empty()) return;
  ExampleReader reader(files_of(recipe, recipe.data.train));
  std::set<std::string> labels;
  for (std::vector<std::string> fields; reader.next(fields);) labels.insert(fields[0]);
  recipe.data.labels.assign(labels.begin(), labels.end());
}

ClassificationTask::ClassificationTask(Recipe r, Tokenizers t) : Task(std::move(r), std::move(t)) {
  if (labels().size() < 2)
    invalid(
        fmt::format("classification needs two labels or more; the training text has {}", labels().size()));
  model_ = std::make_shared<Classifier>(recipe().model, tokenizers().source->size(),
                                        static_cast<int64_t>(labels().size()));
}

int64_t ClassificationTask::max_text() const {
  const int64_t limit = recipe().data.max_length;
  return (limit > 0 ? limit : recipe().model.max_length) - 2;  // one place for the begin, one for the end
}

std::unique_ptr<Dataset> ClassificationTask::open(const std::vector<std::string>& paths,
                                                  bool training) const {
  const Tokenizer& tokenizer = *tokenizers().source;
  const LabelTokenizer label_tokenizer(labels());
  auto data = open_lines(
      *this, open_store(*this, files_of(recipe(), paths), {&label_tokenizer, &tokenizer}),
      {{0, max_text()}, {std::nullopt, tokenizer.begin()}, {std::nullopt, tokenizer.end()}}, training);
  data->tokens = data->lines();  // one label an example is what is predicted
  data->words = data->characters = 0;
  return data;
}

LossSum ClassificationTask::loss(const Batch& batch) {
  const auto text = tensors_of(batch.fields[1]);
  return cross_entropy(model_->forward(text.tokens, text.lengths), model_->classes(),
                       tensors_of(batch.fields[0]).tokens.flatten(),
                       model_->is_training() ? recipe().train.label_smoothing : 0);
}

at::Tensor ClassificationTask::probabilities(const Field& texts) {
  const auto [tokens, lengths] = tensors_of(texts);
  return at::softmax(at::linear(model_->forward(tokens, lengths), model_->classes()), 1, at::kDouble);
}

Evaluation ClassificationTask::evaluate(const Dataset& data, bool, const DecodeOptions&) {
  c10::NoGradGuard no_grad;
  model_->eval();
  Segments found, wanted;
  double nll = 0;
  for (int64_t n = 0; n < data.batches->per_epoch(); ++n) {
    const Batch batch = data.batches->make(n);
    const auto shares = probabilities(batch.fields[1]).contiguous();  // B×C
    const auto best = shares.argmax(1);
    for (int64_t row = 0; row < shares.size(0); ++row) {
      const int64_t label = batch.fields[0].ids[static_cast<size_t>(row)];
      nll -= std::log(shares[row][label].item<double>());
      wanted.push_back(labels()[static_cast<size_t>(label)]);
      found.push_back(labels()[static_cast<size_t>(best[row].item<int64_t>())]);
    }
  }
  Evaluation result{{{"loss", nll / static_cast<double>(found.size())}}, {}};
  for (const auto& [key, value] : score(find_metric("classify"), found, {wanted}).values) {
    if (const auto* number = std::get_if<double>(&value)) result.scores.emplace_back(key, *number);
  }
  result.scores.emplace_back("examples", static_cast<double>(found.size()));
  return result;
}

}  // namespace synthesizer
