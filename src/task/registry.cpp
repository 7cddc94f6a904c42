#include "task/registry.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/nearest.h"
#include "task/classification.h"
#include "task/dialogue.h"
#include "task/language_modelling.h"
#include "task/span_corruption_task.h"
#include "task/summarization.h"
#include "task/text_to_text.h"
#include "task/translation.h"

namespace synthesizer {
namespace {

template <typename T>
std::unique_ptr<Task> make(Recipe recipe, Tokenizers tokenizers) {
  return std::make_unique<T>(std::move(recipe), std::move(tokenizers));
}

}  // namespace

const std::vector<TaskInfo>& tasks() {
  static const std::vector<Side> both = {Side::encoder, Side::decoder};
  static const std::vector<TaskInfo> all = {
      {"language-model",
       "each token from those before it",
       1,
       true,
       {Side::decoder},
       make<LanguageModelTask>},
      {"translation", "a text in another language", 2, false, both, make<TranslationTask>},
      {"summarization", "what a text says, in short", 2, false, both, make<SummarizationTask>},
      {"dialogue", "a reply, from who speaks and what was said", 3, false, both, make<DialogueTask>, 0,
       DialogueTask::set_converter},
      {"classification",
       "which class a text is of",
       2,
       false,
       {Side::encoder},
       make<ClassificationTask>,
       1,
       ClassificationTask::set_converter,
       ClassificationTask::complete},
      {"span-corruption", "what was taken out of a text (T5's pre-training)", 1, true, both,
       make<SpanCorruptionTask>},
      {"text-to-text", "GLUE, SuperGLUE, SQuAD and any table, as questions and answers (T5)", 1, true, both,
       make<TextToTextTask>, 0, TextToTextTask::set_converter, nullptr, true},
  };
  return all;
}

const TaskInfo& find_task(const std::string& name) {
  std::vector<std::string> known;
  for (const TaskInfo& info : tasks()) {
    if (info.name == name) return info;
    known.push_back(info.name);
  }
  std::string list;
  for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
  invalid(fmt::format("task is \"{}\": there is none of that name{} (there are: {})", name,
                      did_you_mean(name, known), list));
}

Files files_of(const Recipe& recipe, const std::vector<std::string>& paths) {
  const TaskInfo& task = find_task(recipe.task);
  Files files;
  const auto shards = expand_patterns(recipe, paths);
  for (const auto& shard : shards) {
    if (shard.empty() && !task.own_format)
      invalid(fmt::format("an empty name is among the files of {}: name a file, or leave it out", task.name));
    files.paths.insert(files.paths.end(), shard.begin(), shard.end());
  }
  files.format = task.own_format ? TextFormat::lines : recipe.data.format;
  files.columns = recipe.data.columns;
  files = resolved(files);
  const bool lines = files.format == TextFormat::lines;
  files.concatenate = lines && task.concatenated;
  if (parallel(files) && files.paths.size() > paths.size()) {
    files.paths = side_by_side(paths, shards);
    files.side_by_side = paths.size();
  }
  if (lines && !task.concatenated && paths.size() < task.fields) {
    invalid(fmt::format("{} needs {} files side by side, or one table (.tsv, .jsonl); '{}' is one alone",
                        task.name, task.fields, paths.front()));
  }
  if (!lines && !files.columns.empty() && files.columns.size() < task.fields) {
    invalid(
        fmt::format("data.columns has {} names: {} needs {}", files.columns.size(), task.name, task.fields));
  }
  if (task.set_converter) task.set_converter(recipe, shards, files);
  return files;
}

}  // namespace synthesizer
