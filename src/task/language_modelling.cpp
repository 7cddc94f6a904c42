#include "task/language_modelling.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "decode/sample.h"
#include "model/sliding_steps.h"
#include "task/batch_tensors.h"
#include "task/guarded_steps.h"
#include "task/inference_batches.h"
#include "task/open_lines.h"
#include "task/registry.h"
#include "task/running_text.h"
#include "text/stream_batches.h"

namespace synthesizer {

LanguageModelTask::LanguageModelTask(Recipe r, Tokenizers t)
    : Task(std::move(r), std::move(t)),
      model_(std::make_shared<LanguageModel>(recipe().model, tokenizers().target->size())) {}

int64_t LanguageModelTask::window() const {
  return recipe().data.max_length > 0 ? recipe().data.max_length : recipe().model.max_length;
}

std::unique_ptr<Dataset> LanguageModelTask::open(const std::vector<std::string>& paths, bool training) const {
  const Tokenizer& tokenizer = *tokenizers().target;
  auto store = open_store(*this, files_of(recipe(), paths), {&tokenizer});
  if (!stream()) {
    return open_lines(*this, std::move(store), {{window() - 1}, {tokenizer.begin()}, {tokenizer.end()}},
                      training);
  }
  const TrainOptions& train = recipe().train;
  StreamBatchOptions options;
  options.line_end = tokenizer.line_end();
  options.first = tokenizer.begin();
  options.length = window();
  options.rows = std::max<int64_t>(1, train.batch_tokens / window());
  if (train.batch_examples > 0) options.rows = std::min(options.rows, train.batch_examples);
  options.seed = static_cast<uint64_t>(recipe().seed);
  options.shuffle = training;
  auto data = std::make_unique<Dataset>();
  data->paths = store->files().paths;
  auto batches = std::make_unique<StreamBatches>(*store, options);
  data->tokens = batches->tokens();
  data->words = batches->words();
  data->characters = batches->characters();
  data->batches = std::move(batches);
  data->stores.push_back(std::move(store));
  return data;
}

LossSum LanguageModelTask::loss(const Batch& batch) {
  FieldTensors input;
  at::Tensor targets;
  if (stream()) {
    input = tensors_of(batch.fields[0]);
    targets = tensors_of(batch.fields[1]).tokens;
  } else {
    auto line = shifted(batch.fields[0]);
    input = line.input;
    targets = line.targets;
  }
  const auto hidden = model_->forward(input.tokens, input.lengths);
  return cross_entropy(real_rows(hidden, input.lengths), model_->output().weight(), model_->output().bias(),
                       real_rows(targets, input.lengths),
                       model_->is_training() ? recipe().train.label_smoothing : 0);
}

Evaluation LanguageModelTask::evaluate(const Dataset& data, bool, const DecodeOptions&) {
  return {likelihood(data), {}, {}};
}

std::vector<double> LanguageModelTask::log_probabilities(
    const std::vector<std::vector<std::string>>& examples) {
  c10::NoGradGuard no_grad;
  expect_inference();
  std::vector<double> results;
  for (const auto& fields : examples) results.push_back(-loss(batch_of(fields)).nll);
  return results;
}

Batch LanguageModelTask::batch_of(const std::vector<std::string>& fields) const {
  if (fields.size() != 1)
    invalid(fmt::format("a language model scores one text, not {} together", fields.size()));
  const Tokenizer& tokenizer = *tokenizers().target;
  const Tokens text = encode_text(tokenizer, fields[0]);
  check_length("text", text, recipe().model.max_length - 1);
  std::vector<int64_t> tokens = {tokenizer.begin()};
  tokens.insert(tokens.end(), text.begin(), text.end());
  tokens.push_back(stream() ? tokenizer.line_end() : tokenizer.end());
  Batch batch;
  batch.fields = {field_of({tokens})};
  if (stream()) {  // what is read, and what is to be said
    batch.fields = {without_last(batch.fields[0]), field_of({{tokens.begin() + 1, tokens.end()}})};
  }
  return batch;
}

std::vector<SideInput> LanguageModelTask::inputs_of(const Batch& batch) const {
  return {{Side::decoder, stream() ? batch.fields[0] : without_last(batch.fields[0]), tokenizers().target}};
}

std::vector<int64_t> LanguageModelTask::prompt_row(const std::string& prompt) const {
  const Tokenizer& tokenizer = *tokenizers().target;
  std::vector<int64_t> row;
  if (prompt.empty() || tokenizer.begins_prompts()) row.push_back(tokenizer.begin());
  for (const Token token : encode_text(tokenizer, prompt)) row.push_back(token);
  return row;
}

int64_t LanguageModelTask::end_token() const {
  return stream() ? -1 : tokenizers().target->end();
}

std::string LanguageModelTask::text_of(const std::vector<int64_t>& drawn) const {
  return decode_text(*tokenizers().target, Tokens(drawn.begin(), drawn.end()));
}

std::string LanguageModelTask::generate(const std::string& prompt, int64_t tokens,
                                        const DecodeOptions& options,
                                        const std::function<void(const std::string&)>& on_text) {
  expect_inference();
  const Tokenizer& tokenizer = *tokenizers().target;
  const std::vector<int64_t> fed = prompt_row(prompt);
  SlidingSteps steps([&](int64_t rows) { return model_->start(rows); }, 1);
  // What is shown so far: a token alone may be half a character, so the text is made anew from all of them.
  Tokens drawn;
  std::string shown;
  auto show = [&](int64_t, int64_t token) {
    drawn.push_back(static_cast<Token>(token));
    const std::string text = decode_text(tokenizer, drawn);
    if (text.size() <= shown.size() || !text.starts_with(shown) || text.ends_with("\xEF\xBF\xBD")) return;
    if (on_text) on_text(text.substr(shown.size()));
    shown = text;
  };
  GuardedSteps guarded(steps, tokenizer.forbidden());
  const auto rows = sample(guarded, {fed}, tokens, end_token(), options, show);
  std::string text = text_of(rows[0]);
  if (on_text && text.starts_with(shown)) on_text(text.substr(shown.size()));
  return text;
}

}  // namespace synthesizer
