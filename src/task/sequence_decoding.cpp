// How a SequenceTask writes: lines to batches, search, text again.

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "decode/beam.h"
#include "decode/greedy.h"
#include "runtime/interrupt.h"
#include "task/batch_tensors.h"
#include "task/guarded_steps.h"
#include "task/inference_batches.h"
#include "task/sequence_task.h"
#include "task/shared_work.h"
#include "text/lines.h"

namespace synthesizer {
namespace {

/// Tokens beyond the tokenizer's have no text.
Tokens without_sentinels(const std::vector<int64_t>& tokens, const Tokenizer& tokenizer) {
  Tokens kept;
  for (const int64_t token : tokens) {
    if (token < tokenizer.size()) kept.push_back(static_cast<Token>(token));
  }
  return kept;
}

/// Steps that can be stopped: what is called before each may throw.
class WatchedSteps : public StepModel {
 public:
  WatchedSteps(StepModel& steps, const std::function<void()>& before) : steps_(&steps), before_(&before) {}
  int64_t rows() const override { return steps_->rows(); }
  int64_t max_length() const override { return steps_->max_length(); }
  at::Tensor step(const at::Tensor& tokens) override {
    if (*before_) (*before_)();
    return steps_->step(tokens);
  }
  int64_t forbidden() const override { return steps_->forbidden(); }
  void reorder(const at::Tensor& indices) override { steps_->reorder(indices); }

 private:
  StepModel* steps_;
  const std::function<void()>* before_;
};

void pack(Packer& packer, const std::vector<Translation>& best) {
  packer.add(best.size());
  for (const Translation& one : best) {
    packer.add(one.text);
    packer.add(one.score);
    packer.add(one.log_probability);
  }
}

std::vector<Translation> unpack(Unpacker& unpacker) {
  std::vector<Translation> best(unpacker.next<size_t>());
  for (Translation& one : best) {
    one.text = unpacker.next<std::string>();
    one.score = unpacker.next<double>();
    one.log_probability = unpacker.next<double>();
  }
  return best;
}

}  // namespace

std::vector<std::vector<Translation>> SequenceTask::translate_batch(const std::vector<const Tokens*>& sources,
                                                                    const DecodeOptions& options) {
  const auto& [source, target] = tokenizers();
  std::vector<std::vector<int64_t>> rows;
  std::vector<int64_t> limits;
  for (const Tokens* tokens : sources) {
    rows.emplace_back(tokens->begin(), tokens->end()).push_back(source->end());
    const int64_t limit =
        options.max_length > 0 ? options.max_length : 2 * static_cast<int64_t>(tokens->size()) + 20;
    limits.push_back(std::min(max_target(), limit));
  }
  const auto input = tensors_of(field_of(rows));
  const auto steps = model_->start(model_->encode(input.tokens, input.lengths), input.lengths);
  GuardedSteps guarded(*steps, target->forbidden());
  const auto search = options.beam == 1 ? greedy_search : beam_search;
  std::vector<std::vector<Translation>> results;
  for (const auto& hypotheses : search(guarded, target->begin(), target->end(), limits, options)) {
    auto& best = results.emplace_back();
    for (const Hypothesis& h : hypotheses) best.push_back({text_of(h.tokens), h.score, h.log_probability});
  }
  return results;
}

std::vector<std::vector<Translation>> SequenceTask::translate(const std::vector<std::string>& lines,
                                                              const DecodeOptions& options,
                                                              int64_t batch_tokens, LongLine too_long,
                                                              int64_t first_line,
                                                              std::vector<std::string>& remarks) {
  c10::NoGradGuard no_grad;
  expect_inference();
  std::vector<Tokens> sources;
  for (const std::string& line : lines) {
    check_interrupt();
    const int64_t number = first_line + static_cast<int64_t>(sources.size());
    sources.push_back(
        truncate_line(tokenizers().source->encode(source_of(line)), max_source(), number, too_long, remarks));
  }
  std::vector<std::vector<Translation>> results(lines.size(), {Translation{}});
  const auto batches = inference_batches(sources, batch_tokens);
  auto work = [&](size_t piece) {
    std::vector<const Tokens*> batch;
    for (const size_t n : batches[piece]) {
      if (!sources[n].empty()) batch.push_back(&sources[n]);  // the empty ones come last and stay empty
    }
    if (batch.empty()) return;
    auto translated = translate_batch(batch, options);
    for (size_t i = 0; i < batch.size(); ++i) results[batches[piece][i]] = std::move(translated[i]);
  };
  auto pack_piece = [&](size_t piece) {
    Packer packer;
    for (const size_t n : batches[piece]) pack(packer, results[n]);
    return std::move(packer).bytes();
  };
  share_pieces(group(), batches.size(), work, pack_piece, [&](size_t piece, const std::string& bytes) {
    Unpacker unpacker(bytes);
    for (const size_t n : batches[piece]) results[n] = unpack(unpacker);
  });
  return results;
}

std::vector<int64_t> SequenceTask::source_row(const std::string& line, LongLine too_long, int64_t number,
                                              std::vector<std::string>& remarks) const {
  const Tokens tokens =
      truncate_line(tokenizers().source->encode(source_of(line)), max_source(), number, too_long, remarks);
  std::vector<int64_t> row(tokens.begin(), tokens.end());
  row.push_back(tokenizers().source->end());
  return row;
}

int64_t SequenceTask::output_limit(const std::vector<int64_t>& source, const DecodeOptions& options) const {
  const auto length = static_cast<int64_t>(source.size()) - 1;  // without the end
  const int64_t limit = options.max_length > 0 ? options.max_length : 2 * length + 20;
  return std::min({max_target(), limit, recipe().model.max_length - 1});
}

std::vector<std::vector<Translation>> SequenceTask::translate_rows(
    const std::vector<std::vector<int64_t>>& sources, const DecodeOptions& options,
    const std::function<void()>& before_step) {
  c10::NoGradGuard no_grad;
  expect_inference();
  std::vector<int64_t> limits;
  for (const auto& source : sources) limits.push_back(output_limit(source, options));
  const auto lengths = tensors_of(field_of(sources)).lengths;
  const auto steps = model_->start(model_->encode_apart(sources), lengths);
  GuardedSteps guarded(*steps, tokenizers().target->forbidden());
  WatchedSteps watched(guarded, before_step);
  const auto search = options.beam == 1 ? greedy_search : beam_search;
  std::vector<std::vector<Translation>> results;
  const Tokenizer& target = *tokenizers().target;
  for (const auto& hypotheses : search(watched, target.begin(), target.end(), limits, options)) {
    auto& best = results.emplace_back();
    for (const Hypothesis& h : hypotheses) best.push_back({text_of(h.tokens), h.score, h.log_probability});
  }
  return results;
}

std::string SequenceTask::text_of(const std::vector<int64_t>& tokens) const {
  const Tokenizer& target = *tokenizers().target;
  // Characters and bytes have tokens for line breaks. No target of training has one, but a model may write
  // it.
  return as_one_line(target.decode(without_sentinels(tokens, target)));
}

}  // namespace synthesizer
