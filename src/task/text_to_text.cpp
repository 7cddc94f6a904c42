#include "task/text_to_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "task/registry.h"
#include "task/span_corruption_task.h"
#include "text/mixed_batches.h"

namespace synthesizer {
namespace {

std::vector<Benchmark> benchmarks_of(const Recipe& recipe, const std::vector<std::string>& paths) {
  const DataOptions& data = recipe.data;
  if (data.tasks.empty())
    invalid("data.tasks is empty: name the task of each file, such as [\"sst2\", \"cola\"]");
  if (paths.size() != data.tasks.size()) {
    invalid(fmt::format("{} files for {} tasks (data.tasks): each task has one file of a split", paths.size(),
                        data.tasks.size()));
  }
  std::vector<Benchmark> result;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (data.source_template.empty()) {
      result.push_back(find_benchmark(data.tasks[i]));
      continue;
    }
    Files files;
    files.paths = {paths[i]};
    files.format = data.format;
    files.columns = {"any"};  // which they are the templates say
    result.push_back(template_benchmark(data.tasks[i], data.source_template, data.target_template,
                                        resolved(files).format));
  }
  return result;
}

/// File after file, each read as its task does.
class BenchmarkShaper : public RecordConverter {
 public:
  BenchmarkShaper(std::vector<Benchmark> tasks, bool training)
      : tasks_(std::move(tasks)), training_(training) {}
  size_t fields() const override { return 2; }
  void convert(std::vector<std::string>& record, int64_t line, const std::string& where,
               std::vector<std::vector<std::string>>& examples) override {
    if (line == 1) reader_ = tasks_[file_++].open(training_);
    for (TextExample& example : reader_->read(record[0], line, where))
      examples.push_back({std::move(example.source), std::move(example.target)});
  }

 private:
  std::vector<Benchmark> tasks_;
  bool training_;
  size_t file_ = 0;
  std::unique_ptr<BenchmarkReader> reader_;
};

std::vector<TextExample> read_examples(const Benchmark& task, const std::string& path) {
  std::vector<TextExample> examples;
  const auto reader = task.open(false);
  LineReader lines(path);
  for (std::string line; lines.next(line);) {
    auto more = reader->read(line, lines.number(), fmt::format("{}:{}", path, lines.number()));
    examples.insert(examples.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
  }
  if (examples.empty()) invalid(fmt::format("{} is empty: there is nothing to score", path));
  return examples;
}

void set_task_converter(Files& files, const std::vector<Benchmark>& tasks, const Recipe& recipe,
                        bool training) {
  files.converter = [tasks, training] { return std::make_unique<BenchmarkShaper>(tasks, training); };
  files.converter_key = fmt::format("{}, {}, {}", training ? "training" : "scoring",
                                    recipe.data.source_template, recipe.data.target_template);
  for (const Benchmark& task : tasks) files.converter_key += fmt::format(", {}", task.name);
}

}  // namespace

TextToTextTask::TextToTextTask(Recipe r, Tokenizers t)
    : SequenceTask(std::move(r), std::move(t), kSentinels),
      tasks_(benchmarks_of(recipe(), recipe().data.train)) {}

void TextToTextTask::set_converter(const Recipe& recipe, Files& files) {
  set_task_converter(files, benchmarks_of(recipe, files.paths), recipe, true);
}

std::unique_ptr<Dataset> TextToTextTask::open(const std::vector<std::string>& paths, bool training) const {
  auto data = std::make_unique<Dataset>();
  data->paths = paths;
  const Files all = files_of(recipe(), paths);
  std::vector<MixedPart> parts;
  for (size_t i = 0; i < paths.size(); ++i) {
    Files own = all;
    own.paths = {all.paths[i]};
    set_task_converter(own, {tasks_[i]}, recipe(), training);
    auto part = open_pairs(own, training);
    for (const std::string& remark : part->remarks)
      data->remarks.push_back(fmt::format("{}: {}", tasks_[i].name, remark));
    data->tokens += part->tokens;
    data->words += part->words;
    data->characters += part->characters;
    parts.push_back({std::move(part->batches), part->lines()});
    data->stores.push_back(std::move(part->stores.front()));
  }
  data->batches = std::make_unique<MixedBatches>(std::move(parts), training ? recipe().data.mixing_cap : 0,
                                                 static_cast<uint64_t>(recipe().seed));
  return data;
}

Evaluation TextToTextTask::evaluate(const Dataset& data, bool texts, const DecodeOptions& decode) {
  Evaluation result{likelihood(data), {}, {}};
  // Token accuracy has the name of a task's score; here it is not one.
  std::erase_if(result.scores, [](const auto& score) { return score.first == "accuracy"; });
  if (!texts) return result;
  std::vector<std::pair<const Benchmark*, BenchmarkScores>> found;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    const auto examples = read_examples(tasks_[i], data_path(recipe(), data.paths[i]));
    Segments sources;
    for (const TextExample& example : examples) sources.push_back(example.source);
    found.emplace_back(&tasks_[i], tasks_[i].score(examples, write(sources, decode, result)));
    for (const auto& [key, value] : found.back().second)
      result.scores.emplace_back(tasks_.size() == 1 ? key : tasks_[i].name + "_" + key, value);
  }
  for (const char* suite : {"glue", "superglue"}) {
    const auto members =
        std::count_if(found.begin(), found.end(), [&](const auto& one) { return one.first->suite == suite; });
    if (members > 1) result.scores.emplace_back(suite, suite_average(found, suite));
  }
  double sum = 0;
  for (const auto& one : found) sum += task_score(*one.first, one.second);
  result.scores.emplace_back("average", sum / static_cast<double>(found.size()));
  return result;
}

}  // namespace synthesizer
