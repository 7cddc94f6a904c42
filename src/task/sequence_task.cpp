#include "task/sequence_task.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "metric/registry.h"
#include "task/batch_tensors.h"
#include "task/data_files.h"
#include "task/inference_batches.h"
#include "task/open_lines.h"
#include "task/registry.h"

namespace synthesizer {
namespace {

/// The texts of a split as they are written: sources, and lists of references.
struct Texts {
  Segments sources;
  References references;
};

/// With `grouped`, sources that follow each other and are the same are one; where one has fewer references
/// than others, its first stands for those it lacks.
Texts read_texts(const Files& files, bool grouped) {
  ExampleReader reader(files);
  Texts texts;
  std::vector<Segments> of_source;  // references of each
  std::vector<std::string> fields;
  size_t most = 0;
  while (reader.next(fields)) {
    if (!grouped || texts.sources.empty() || texts.sources.back() != fields[0]) {
      texts.sources.push_back(fields[0]);
      of_source.emplace_back();
    }
    of_source.back().insert(of_source.back().end(), fields.begin() + 1, fields.end());
    most = std::max(most, of_source.back().size());
  }
  texts.references.resize(most);
  for (const Segments& own : of_source) {
    for (size_t i = 0; i < most; ++i) texts.references[i].push_back(own[i < own.size() ? i : 0]);
  }
  return texts;
}

/// One place is for the end (source), or for the begin (target).
int64_t room(int64_t limit, const Recipe& recipe) {
  return (limit > 0 ? limit : recipe.model.max_length) - 1;
}

}  // namespace

SequenceTask::SequenceTask(Recipe r, Tokenizers t, int64_t extra) : Task(std::move(r), std::move(t)) {
  const auto& [source, target] = tokenizers();
  model_ =
      std::make_shared<EncoderDecoder>(recipe().model, source->size() + extra, target->size() + extra,
                                       source->shares_vocabulary(*target) && recipe().model.shared_embedding);
}

int64_t SequenceTask::max_source() const {
  return room(recipe().data.max_source_length, recipe());
}
int64_t SequenceTask::max_target() const {
  return room(recipe().data.max_length, recipe());
}

std::unique_ptr<Dataset> SequenceTask::open_pairs(const Files& files, bool training) const {
  const auto& [source, target] = tokenizers();
  return open_lines(
      *this, open_store(*this, files, {source.get(), target.get()}),
      {{max_source(), max_target()}, {std::nullopt, target->begin()}, {source->end(), target->end()}},
      training);
}

std::unique_ptr<Dataset> SequenceTask::open(const std::vector<std::string>& paths, bool training) const {
  Files files = files_of(recipe(), paths);
  // Further columns or files are further references: the loss is that of the first.
  if (!files.converter && parallel(files)) keep_fields(files, 2);
  if (!files.converter && files.columns.size() > 2) files.columns.resize(2);
  auto data = open_pairs(files, training);
  data->paths = paths;
  return data;
}

LossSum SequenceTask::loss(const Batch& batch) {
  const auto source = tensors_of(batch.fields[0]);
  const auto [input, targets] = shifted(batch.fields[1]);
  const auto encoded = model_->encode(source.tokens, source.lengths);
  const auto hidden = model_->decode(input.tokens, input.lengths, encoded, source.lengths);
  return cross_entropy(real_rows(hidden, input.lengths), model_->output().weight(), model_->output().bias(),
                       real_rows(targets, input.lengths),
                       model_->is_training() ? recipe().train.label_smoothing : 0);
}

Evaluation SequenceTask::evaluate(const Dataset& data, bool texts, const DecodeOptions& decode) {
  Evaluation result{likelihood(data), {}, {}};
  if (!texts) return result;
  Texts original = read_texts(files_of(recipe(), data.paths), groups_references());
  Outputs& outputs = result.outputs;
  outputs.written = write(original.sources, decode, result);
  outputs.sources = std::move(original.sources);
  outputs.references = std::move(original.references);
  score_texts(outputs.written, outputs.references, result);
  return result;
}

Segments SequenceTask::write(const Segments& sources, const DecodeOptions& decode, Evaluation& result) {
  std::vector<std::string> remarks;
  DecodeOptions options = decode;
  options.nbest = 1;
  const auto begin = std::chrono::steady_clock::now();
  Segments written;
  for (auto& best : translate(sources, options, recipe().train.batch_tokens, LongLine::truncate, 1, remarks))
    written.push_back(std::move(best.front().text));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  result.outputs.seconds += took.count();
  for (const std::string& text : written)
    result.outputs.tokens += static_cast<int64_t>(tokenizers().target->encode(text).size()) + 1;  // the end
  if (!remarks.empty())
    result.notes.emplace_back("remark", fmt::format("{} sources were too long and were cut", remarks.size()));
  return written;
}

void SequenceTask::measure(const std::string& metric, const MetricOptions& options, const Segments& written,
                           const References& references, const std::vector<std::string>& keys,
                           Evaluation& result) {
  result.outputs.scored.push_back({metric, options, keys});
  for (const auto& [key, value] : score(find_metric(metric), written, references, options).values) {
    if (const auto* text = std::get_if<std::string>(&value)) {
      result.notes.emplace_back(metric == "bleu" ? key : metric + "_" + key, *text);
    } else if (std::find(keys.begin(), keys.end(), key) != keys.end()) {
      result.scores.emplace_back(key, std::get<double>(value));
    }
  }
}

std::vector<double> SequenceTask::log_probabilities(const std::vector<std::vector<std::string>>& examples) {
  c10::NoGradGuard no_grad;
  expect_inference();
  std::vector<double> results;
  for (const auto& fields : examples) results.push_back(-loss(batch_of(fields)).nll);
  return results;
}

Batch SequenceTask::batch_of(const std::vector<std::string>& fields) const {
  if (fields.size() != 2)
    invalid(fmt::format("{} scores a source and a target, not {} texts", recipe().task, fields.size()));
  const auto& [source, target] = tokenizers();
  auto with_special_tokens = [](const Tokenizer& tokenizer, const Tokens& text, bool begin) {
    std::vector<int64_t> tokens;
    if (begin) tokens.push_back(tokenizer.begin());
    tokens.insert(tokens.end(), text.begin(), text.end());
    tokens.push_back(tokenizer.end());
    return field_of({tokens});
  };
  const Tokens read = source->encode(source_of(fields[0])), written = target->encode(fields[1]);
  const int64_t room = recipe().model.max_length - 1;  // one place is for the end, or for the begin
  check_length("source", read, room);
  check_length("target", written, room);
  Batch batch;
  batch.fields = {with_special_tokens(*source, read, false), with_special_tokens(*target, written, true)};
  return batch;
}

std::vector<SideInput> SequenceTask::inputs_of(const Batch& batch) const {
  return {{Side::encoder, batch.fields[0], tokenizers().source},
          {Side::decoder, without_last(batch.fields[1]), tokenizers().target}};
}

}  // namespace synthesizer
