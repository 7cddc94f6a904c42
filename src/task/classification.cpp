#include "task/classification.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "base/error.h"
#include "metric/registry.h"
#include "runtime/interrupt.h"
#include "task/batch_tensors.h"
#include "task/open_lines.h"
#include "task/registry.h"
#include "task/shared_work.h"
#include "text/label_tokenizer.h"
#include "text/utf8.h"

namespace synthesizer {
namespace {

/// Texts that an evaluation keeps to show beside their labels.
constexpr size_t kShown = 64;

/// A label, then the text in one column or several. Without a list of labels any will do.
class LabelShaper : public RecordConverter {
 public:
  explicit LabelShaper(std::vector<std::string> labels) : labels_(std::move(labels)) {}
  size_t fields() const override { return 2; }
  void convert(std::vector<std::string>& record, int64_t, const std::string& where,
               std::vector<std::vector<std::string>>& examples) override {
    if (record.size() < 2) invalid(fmt::format("{}: the label '{}' has no text", where, record[0]));
    if (split_words(record[0]).empty())
      invalid(fmt::format("{}: the label is empty: write one, or remove the line", where));
    if (!labels_.empty() && std::find(labels_.begin(), labels_.end(), record[0]) == labels_.end()) {
      invalid(fmt::format("{}: label '{}' is not one of the classes ({})", where, record[0],
                          fmt::join(labels_, ", ")));
    }
    std::string text = std::move(record[1]);
    for (size_t i = 2; i < record.size(); ++i) text += " " + record[i];
    examples.push_back({std::move(record[0]), std::move(text)});
  }

 private:
  std::vector<std::string> labels_;
};

struct LabelCount {
  int64_t all = 0, in_first_lines = 0;
};

/// A class that stands in first lines alone, beside two classes or more, is more likely the name of a column.
void check_no_header(const std::string& path, const std::map<std::string, LabelCount>& labels) {
  if (labels.size() < 3) return;
  for (const auto& [label, count] : labels) {
    if (count.all != count.in_first_lines) continue;
    invalid(
        fmt::format("{}:1: the label '{}' occurs in the first line only: if it is the name of a column, "
                    "set data.columns; if it is a class, list the classes in data.labels",
                    path, label));
  }
}

}  // namespace

void ClassificationTask::set_converter(const Recipe& recipe, const Shards&, Files& files) {
  files.converter = [labels = recipe.data.labels] { return std::make_unique<LabelShaper>(labels); };
  files.converter_key = "classification";
}

void ClassificationTask::complete(Recipe& recipe) {
  if (!recipe.data.labels.empty() || recipe.data.train.empty()) return;
  const Files files = files_of(recipe, recipe.data.train);
  ExampleReader reader(files);
  std::map<std::string, LabelCount> labels;
  for (std::vector<std::string> fields; reader.next(fields);) {
    LabelCount& count = labels[fields[0]];
    ++count.all;
    if (reader.line() == 1) ++count.in_first_lines;
  }
  if (files.format == TextFormat::tsv && files.columns.empty()) check_no_header(files.paths.front(), labels);
  for (const auto& [label, count] : labels) recipe.data.labels.push_back(label);
}

ClassificationTask::ClassificationTask(Recipe r, Tokenizers t) : Task(std::move(r), std::move(t)) {
  if (labels().size() < 2)
    invalid(
        fmt::format("classification needs at least two labels; the training data have {}", labels().size()));
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
  data->paths = paths;
  data->tokens = data->lines();  // one label an example is what is predicted
  data->words = data->characters = 0;
  return data;
}

LossSum ClassificationTask::loss(const Batch& batch) {
  const auto text = tensors_of(batch.fields[1]);
  return cross_entropy(model_->forward(text.tokens, text.lengths), model_->classes(), model_->class_bias(),
                       tensors_of(batch.fields[0]).tokens.flatten(),
                       model_->is_training() ? recipe().train.label_smoothing : 0);
}

std::vector<ClassificationResult> ClassificationTask::classify(const Field& texts) {
  check_interrupt();
  const auto [tokens, lengths] = tensors_of(texts);
  const auto logits = model_->logits(model_->forward(tokens, lengths));  // B×C
  const auto shares = at::softmax(logits, 1, at::kDouble).contiguous();
  const double* row = shares.const_data_ptr<double>();
  std::vector<ClassificationResult> results(static_cast<size_t>(texts.rows));
  for (ClassificationResult& result : results) {
    const double* end = row + shares.size(1);
    result.label = labels()[static_cast<size_t>(std::max_element(row, end) - row)];
    result.probabilities.assign(row, end);
    row = end;
  }
  return results;
}

Outputs ClassificationTask::label_all(const Dataset& data, double& nll) {
  const auto begin = std::chrono::steady_clock::now();
  struct Labelled {
    int64_t line;
    size_t found, wanted;  // numbers of labels
    double log_probability;
  };
  std::vector<std::vector<Labelled>> parts(static_cast<size_t>(data.batches->per_epoch()));  // a batch
  auto work = [&](size_t n) {
    const Batch batch = data.batches->make(static_cast<int64_t>(n));
    const auto results = classify(batch.fields[1]);
    for (size_t row = 0; row < results.size(); ++row) {
      const auto wanted = static_cast<size_t>(batch.fields[0].ids[row]);
      parts[n].push_back({batch.examples[row], label_number(results[row].label), wanted,
                          std::log(results[row].probabilities[wanted])});
    }
  };
  auto pack = [&](size_t n) {
    Packer packer;
    for (const Labelled& one : parts[n]) packer.add(one);
    return std::move(packer).bytes();
  };
  share_pieces(group(), parts.size(), work, pack, [&](size_t n, const std::string& bytes) {
    for (Unpacker unpacker(bytes); !unpacker.done();) parts[n].push_back(unpacker.next<Labelled>());
  });
  std::vector<Labelled> labelled;
  for (const auto& part : parts) {
    for (const Labelled& one : part) nll -= one.log_probability;
    labelled.insert(labelled.end(), part.begin(), part.end());
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  // In the order of the file, so that two models' labels can be compared line by line.
  std::sort(labelled.begin(), labelled.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
  Outputs outputs;
  ExampleReader reader(files_of(recipe(), data.paths));
  std::vector<std::string> fields;
  for (int64_t line = 0;
       outputs.sources.size() < std::min<size_t>(kShown, labelled.size()) && reader.next(fields); ++line) {
    if (line == labelled[outputs.sources.size()].line) outputs.sources.push_back(fields[1]);
  }
  outputs.references.resize(1);
  for (const Labelled& one : labelled) {
    outputs.written.push_back(labels()[one.found]);
    outputs.references[0].push_back(labels()[one.wanted]);
  }
  outputs.tokens = static_cast<int64_t>(labelled.size());
  outputs.seconds = took.count();
  return outputs;
}

Evaluation ClassificationTask::evaluate(const Dataset& data, bool, const DecodeOptions&) {
  c10::NoGradGuard no_grad;
  expect_inference();
  double nll = 0;
  Evaluation result;
  Outputs& outputs = result.outputs = label_all(data, nll);
  const double examples = static_cast<double>(outputs.written.size());
  result.scores.emplace_back("loss", nll / examples);
  std::vector<std::string> keys;
  for (const auto& [key, value] :
       score(find_metric("classify"), outputs.written, outputs.references).values) {
    if (const auto* number = std::get_if<double>(&value)) {
      result.scores.emplace_back(key, *number);
      keys.push_back(key);
    }
  }
  outputs.scored = {{"classify", {}, keys}};
  result.scores.emplace_back("examples", examples);
  return result;
}

}  // namespace synthesizer
