#include "task/text_to_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "task/corrupted_text.h"
#include "text/mixed_batches.h"

namespace synthesizer {
namespace {

/// Whether the table of task n is tsv or jsonl: by the name of its file, in whichever split it has one.
TextFormat table_format(const DataOptions& data, const std::vector<std::string>& names, size_t n) {
  Files files;
  for (const auto* split : {&names, &data.train, &data.dev, &data.test}) {
    if (n < split->size() && !(*split)[n].empty() && files.paths.empty()) files.paths = {(*split)[n]};
  }
  files.format = data.format;
  files.columns = {"any"};  // which they are the templates say
  return resolved(files).format;
}

/// The tasks of a split with these entries.
std::vector<Benchmark> benchmarks_of(const Recipe& recipe, const std::vector<std::string>& names) {
  const DataOptions& data = recipe.data;
  if (data.tasks.empty())
    invalid("data.tasks is empty: name the task of each file, such as [\"sst2\", \"cola\"]");
  if (names.size() != data.tasks.size()) {
    invalid(
        fmt::format("{} files for {} tasks (data.tasks): each task has one file of a split, or \"\" for none",
                    names.size(), data.tasks.size()));
  }
  if (std::all_of(names.begin(), names.end(), [](const std::string& name) { return name.empty(); }))
    invalid("a split of text-to-text names no file at all: name one for at least one of data.tasks");
  std::vector<Benchmark> result;
  for (size_t i = 0; i < names.size(); ++i) {
    if (data.source_template.empty() || data.tasks[i] == find_benchmark("span-corruption").name) {
      result.push_back(find_benchmark(data.tasks[i]));
    } else {
      result.push_back(template_benchmark(data.tasks[i], data.source_template, data.target_template,
                                          table_format(data, names, i)));
    }
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

std::vector<TextExample> read_examples(const Benchmark& task, const std::vector<std::string>& paths) {
  std::vector<TextExample> examples;
  for (const std::string& path : paths) {
    const auto reader = task.open(false);
    LineReader lines(path);
    for (std::string line; lines.next(line);) {
      auto more = reader->read(line, lines.number(), fmt::format("{}:{}", path, lines.number()));
      examples.insert(examples.end(), std::make_move_iterator(more.begin()),
                      std::make_move_iterator(more.end()));
    }
  }
  if (examples.empty()) invalid(fmt::format("{} is empty: there is nothing to score", paths.front()));
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
      tasks_(benchmarks_of(recipe(), recipe().data.train)) {
  if (std::all_of(tasks_.begin(), tasks_.end(), [](const Benchmark& task) { return task.running_text; }))
    invalid(
        "all data.tasks are span-corruption: set task = \"span-corruption\", or add a task with questions");
}

void TextToTextTask::set_converter(const Recipe& recipe, const Shards& shards, Files& files) {
  std::vector<std::string> names;
  for (const auto& shard : shards) names.push_back(shard.empty() ? "" : shard.front());
  const auto tasks = benchmarks_of(recipe, names);
  std::vector<Benchmark> of_files;
  for (size_t i = 0; i < shards.size(); ++i) of_files.insert(of_files.end(), shards[i].size(), tasks[i]);
  set_task_converter(files, of_files, recipe, true);
}

std::unique_ptr<Dataset> TextToTextTask::open_part(const Benchmark& task,
                                                   const std::vector<std::string>& paths,
                                                   bool training) const {
  Files files;
  files.paths = paths;
  files.format = TextFormat::lines;
  files.concatenate = true;
  if (task.running_text) return open_corrupted(*this, files, {max_source() + 1, max_target() + 1}, training);
  set_task_converter(files, std::vector<Benchmark>(paths.size(), task), recipe(), training);
  return open_pairs(files, training);
}

std::unique_ptr<Dataset> TextToTextTask::open(const std::vector<std::string>& paths, bool training) const {
  benchmarks_of(recipe(), paths);  // as many as tasks
  const Shards shards = expand_patterns(recipe(), paths);
  auto data = std::make_unique<Dataset>();
  data->paths = paths;
  std::vector<MixedPart> parts;
  bool counts_words = true;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (shards[i].empty()) continue;
    auto part = open_part(tasks_[i], shards[i], training);
    for (const std::string& remark : part->remarks)
      data->remarks.push_back(fmt::format("{}: {}", tasks_[i].name, remark));
    data->tokens += part->tokens;
    data->words += part->words;
    data->characters += part->characters;
    counts_words &= part->words > 0;
    parts.push_back({std::move(part->batches), part->examples()});
    data->stores.push_back(std::move(part->stores.front()));
  }
  if (!counts_words) data->words = data->characters = 0;  // of what is taken out of a text nobody counts them
  const MixingRates rates{recipe().data.mixing_cap, recipe().data.mixing_temperature};
  data->batches = std::make_unique<MixedBatches>(std::move(parts), training ? rates : MixingRates{},
                                                 static_cast<uint64_t>(recipe().seed));
  return data;
}

BenchmarkScores TextToTextTask::score_task(const Benchmark& task, const std::vector<std::string>& paths,
                                           const DecodeOptions& decode, Evaluation& result) {
  if (task.running_text) {
    const Scores found = likelihood(*open_part(task, paths, false));
    auto score = [&](const std::string& key) {
      return std::find_if(found.begin(), found.end(), [&](const auto& one) { return one.first == key; })
          ->second;
    };
    return {{"log_perplexity", score("loss")}, {"accuracy", score("accuracy")}};
  }
  const auto examples = read_examples(task, paths);
  Segments sources;
  for (const TextExample& example : examples) sources.push_back(example.source);
  return task.score(examples, write(sources, decode, result));
}

Evaluation TextToTextTask::evaluate(const Dataset& data, bool texts, const DecodeOptions& decode) {
  Evaluation result{likelihood(data), {}, {}};
  // Token accuracy has the name of a task's score; here it is not one.
  std::erase_if(result.scores, [](const auto& score) { return score.first == "accuracy"; });
  if (!texts) return result;
  const Shards shards = expand_patterns(recipe(), data.paths);
  std::vector<std::pair<const Benchmark*, BenchmarkScores>> found;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    if (shards[i].empty()) continue;
    const BenchmarkScores scores = score_task(tasks_[i], shards[i], decode, result);
    for (const auto& [key, value] : scores)
      result.scores.emplace_back(tasks_.size() == 1 ? key : tasks_[i].name + "_" + key, value);
    if (!tasks_[i].running_text) found.emplace_back(&tasks_[i], scores);
  }
  for (const char* suite : {"glue", "superglue"}) {
    const auto members =
        std::count_if(found.begin(), found.end(), [&](const auto& one) { return one.first->suite == suite; });
    if (members > 1) result.scores.emplace_back(suite, suite_average(found, suite));
  }
  if (found.empty()) return result;
  double sum = 0;
  for (const auto& one : found) sum += task_score(*one.first, one.second);
  result.scores.emplace_back("average", sum / static_cast<double>(found.size()));
  return result;
}

}  // namespace synthesizer
