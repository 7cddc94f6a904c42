#include "task/translation.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "decode/beam.h"
#include "decode/greedy.h"
#include "metric/bleu.h"
#include "metric/chrf.h"
#include "task/batch_tensors.h"
#include "task/open_lines.h"
#include "task/registry.h"

namespace synthesizer {
namespace {

/// The texts of a split as they are written: sources, and one list of references a reference file.
struct Texts {
  Segments sources;
  References references;
};

Texts read_texts(const Files& files) {
  ExampleReader reader(files);
  Texts texts;
  texts.references.resize(reader.fields() - 1);
  std::vector<std::string> fields;
  while (reader.next(fields)) {
    texts.sources.push_back(fields[0]);
    for (size_t i = 1; i < fields.size(); ++i) texts.references[i - 1].push_back(fields[i]);
  }
  return texts;
}

}  // namespace

TranslationTask::TranslationTask(Recipe r, Tokenizers t) : Task(std::move(r), std::move(t)) {
  const auto& [source, target] = tokenizers();
  model_ = std::make_shared<EncoderDecoder>(recipe().model, source->size(), target->size(),
                                            tokenizers().joint() && recipe().model.shared_embedding);
}

// One place is for the end (source), or for the begin (target).
int64_t TranslationTask::max_source() const {
  const int64_t limit = recipe().data.max_source_length;
  return (limit > 0 ? limit : recipe().model.max_length) - 1;
}
int64_t TranslationTask::max_target() const {
  const int64_t limit = recipe().data.max_length;
  return (limit > 0 ? limit : recipe().model.max_length) - 1;
}

std::unique_ptr<Dataset> TranslationTask::open(const std::vector<std::string>& paths, bool training) const {
  const auto& [source, target] = tokenizers();
  Files files = files_of(recipe(), paths);
  std::vector<const Tokenizer*> of_fields = {source.get(), target.get()};
  // Further columns or files are further references: the loss is that of the first.
  if (parallel(files)) files.paths.resize(2);
  if (files.columns.size() > 2) files.columns.resize(2);
  auto data = open_lines(
      *this, open_store(*this, files, of_fields),
      {{max_source(), max_target()}, {std::nullopt, target->begin()}, {source->end(), target->end()}},
      training);
  data->paths = paths;
  return data;
}

LossSum TranslationTask::loss(const Batch& batch) {
  const auto source = tensors_of(batch.fields[0]);
  const auto [input, targets] = shifted(batch.fields[1]);
  const auto encoded = model_->encode(source.tokens, source.lengths);
  const auto hidden = model_->decode(input.tokens, input.lengths, encoded, source.lengths);
  return cross_entropy(real_rows(hidden, input.lengths), model_->output().weight(),
                       real_rows(targets, input.lengths),
                       model_->is_training() ? recipe().train.label_smoothing : 0);
}

Evaluation TranslationTask::evaluate(const Dataset& data, bool texts, const DecodeOptions& decode) {
  Evaluation result{likelihood(data), {}};
  if (!texts) return result;
  const Texts original = read_texts(files_of(recipe(), data.paths));
  std::vector<std::string> remarks;
  DecodeOptions options = decode;
  options.nbest = 1;
  Segments written;
  for (const auto& best :
       translate(original.sources, options, recipe().train.batch_tokens, LongLine::truncate, 1, remarks))
    written.push_back(best.front().text);
  int64_t exact = 0;
  for (size_t i = 0; i < written.size(); ++i) exact += written[i] == original.references[0][i] ? 1 : 0;
  const BleuOptions bleu_options;
  const ChrfOptions chrf_options;
  result.scores.emplace_back("bleu", bleu(written, original.references, bleu_options).score);
  result.scores.emplace_back("chrf", chrf(written, original.references, chrf_options));
  result.scores.emplace_back("exact_match",
                             static_cast<double>(exact) / static_cast<double>(written.size()) * 100);
  result.notes.emplace_back("signature", bleu_signature(bleu_options, original.references.size()));
  result.notes.emplace_back("chrf_signature", chrf_signature(chrf_options, original.references.size()));
  if (!remarks.empty())
    result.notes.emplace_back("remark", fmt::format("{} sources were too long and were cut", remarks.size()));
  return result;
}

std::vector<double> TranslationTask::log_probabilities(
    const std::vector<std::vector<std::string>>& examples) {
  c10::NoGradGuard no_grad;
  model_->eval();
  const auto& [source, target] = tokenizers();
  std::vector<double> results;
  for (const auto& fields : examples) {
    if (fields.size() != 2)
      invalid(fmt::format("translation scores a source and a target, not {} texts", fields.size()));
    Batch batch;
    auto framed = [](const Tokenizer& tokenizer, const std::string& text, bool begin) {
      std::vector<int64_t> tokens;
      if (begin) tokens.push_back(tokenizer.begin());
      for (const Token token : tokenizer.encode(text)) tokens.push_back(token);
      tokens.push_back(tokenizer.end());
      return field_of(tokens);
    };
    batch.fields = {framed(*source, fields[0], false), framed(*target, fields[1], true)};
    results.push_back(-loss(batch).nll);
  }
  return results;
}

Tokens TranslationTask::encode_line(const std::string& line, int64_t number, LongLine too_long,
                                    std::vector<std::string>& remarks) const {
  Tokens tokens = tokenizers().source->encode(line);
  const auto size = static_cast<int64_t>(tokens.size());
  if (size <= max_source()) return tokens;
  if (too_long == LongLine::error) {
    invalid(
        fmt::format("line {}: {} tokens, and the model takes {}: shorten it, or cut with --too-long truncate",
                    number, size, max_source()));
  }
  remarks.push_back(fmt::format("line {}: {} tokens, cut to {}", number, size, max_source()));
  tokens.resize(static_cast<size_t>(max_source()));
  return tokens;
}

std::vector<std::vector<Translation>> TranslationTask::translate_batch(
    const std::vector<const Tokens*>& sources, const DecodeOptions& options) {
  const auto& [source, target] = tokenizers();
  Field field;
  std::vector<int64_t> limits;
  for (const Tokens* tokens : sources) {
    const auto length = static_cast<int64_t>(tokens->size());
    field.lengths.push_back(length + 1);
    field.columns = std::max(field.columns, length + 1);
    limits.push_back(std::min(max_target(), options.max_length > 0 ? options.max_length : 2 * length + 20));
  }
  field.rows = static_cast<int64_t>(sources.size());
  for (const Tokens* tokens : sources) {
    field.ids.insert(field.ids.end(), tokens->begin(), tokens->end());
    field.ids.push_back(source->end());
    field.ids.resize(field.ids.size() + static_cast<size_t>(field.columns) - tokens->size() - 1, 0);
  }
  const auto input = tensors_of(field);
  const auto steps = model_->start(model_->encode(input.tokens, input.lengths), input.lengths);
  const auto search = options.beam == 1 ? greedy_search : beam_search;
  std::vector<std::vector<Translation>> results;
  for (const auto& hypotheses : search(*steps, target->begin(), target->end(), limits, options)) {
    auto& best = results.emplace_back();
    for (const Hypothesis& h : hypotheses) {
      best.push_back({target->decode(Tokens(h.tokens.begin(), h.tokens.end())), h.score, h.log_probability});
    }
  }
  return results;
}

std::vector<std::vector<Translation>> TranslationTask::translate(const std::vector<std::string>& lines,
                                                                 const DecodeOptions& options,
                                                                 int64_t batch_tokens, LongLine too_long,
                                                                 int64_t first_line,
                                                                 std::vector<std::string>& remarks) {
  c10::NoGradGuard no_grad;
  model_->eval();
  std::vector<Tokens> sources;
  for (const std::string& line : lines) {
    sources.push_back(
        encode_line(line, first_line + static_cast<int64_t>(sources.size()), too_long, remarks));
  }
  // Longest first, so that what needs most memory comes at once; those without tokens give empty texts.
  std::vector<size_t> order;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].empty()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sources[a].size() > sources[b].size(); });
  std::vector<std::vector<Translation>> results(lines.size(), {Translation{}});
  for (size_t begin = 0; begin < order.size();) {
    const size_t longest = sources[order[begin]].size() + 1;
    const size_t room = std::max<size_t>(1, static_cast<size_t>(batch_tokens) / longest);
    const size_t end = std::min(order.size(), begin + room);
    std::vector<const Tokens*> batch;
    for (size_t i = begin; i < end; ++i) batch.push_back(&sources[order[i]]);
    auto translated = translate_batch(batch, options);
    for (size_t i = begin; i < end; ++i) results[order[i]] = std::move(translated[i - begin]);
    begin = end;
  }
  return results;
}

}  // namespace synthesizer
