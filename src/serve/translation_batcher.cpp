#include "serve/translation_batcher.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdlib>

#include "serve/error.h"

namespace synthesizer::serve {
namespace {

constexpr int64_t kBeamAlone = 8;  // see TranslationBatcher

/// How many sentences are encoded ahead, where so many are decoded together.
int64_t encoded_ahead(int64_t batch) {
  return batch / 4;
}

int64_t length_of(const TranslateJob& job) {
  return static_cast<int64_t>(job.source.size());
}

/// All sentences of a batch have been given up.
struct NobodyWaits {};

}  // namespace

TranslationBatcher::TranslationBatcher(SequenceTask& task, int64_t batch, Metrics& metrics)
    : Batcher(batch, metrics), task_(&task), sentences_(batch + encoded_ahead(batch), metrics) {}

void TranslationBatcher::choose() {
  // The slots beyond `batch` are for sentences encoded ahead. When these leave a place free, it is filled,
  // and all slots ahead are filled with it.
  const auto ahead = static_cast<size_t>(encoded_ahead(batch()));
  size_t free = sentences_.free() > ahead ? sentences_.free() : 0;
  std::vector<TranslatePtr> beams;
  take([&](const JobPtr& job) {
    auto own = std::dynamic_pointer_cast<TranslateJob>(job);
    if (!own) return false;
    if (own->options.beam > 1) {
      beams.push_back(std::move(own));
      return false;
    }
    if (free == 0) return false;
    --free;
    beginning_.push_back(std::move(own));
    return true;
  });
  if (!beams.empty()) choose_beam(beams);
}

void TranslationBatcher::choose_beam(const std::vector<TranslatePtr>& candidates) {
  const TranslateJob& oldest = *candidates.front();
  const int64_t length = length_of(oldest);
  std::vector<TranslatePtr> chosen;
  for (const TranslatePtr& job : candidates) {
    const int64_t own = length_of(*job), shorter = std::min(own, length), longer = std::max(own, length);
    if (job->options == oldest.options && 2 * longer <= 3 * shorter + 8) chosen.push_back(job);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [&](const TranslatePtr& a, const TranslatePtr& b) {
    return std::abs(length_of(*a) - length) < std::abs(length_of(*b) - length);
  });
  const auto most = static_cast<size_t>(oldest.options.beam >= kBeamAlone ? 1 : batch());
  if (chosen.size() > most) chosen.resize(most);
  take([&](const JobPtr& job) { return std::find(chosen.begin(), chosen.end(), job) != chosen.end(); });
  beams_ = std::move(chosen);
}

void TranslationBatcher::work() {
  if (!beams_.empty()) search_beams();
  encode_sentences();
  start_decoding();
  step_sentences();
}

void TranslationBatcher::search_beams() {
  std::vector<std::vector<int64_t>> sources;
  for (const TranslatePtr& job : beams_) {
    sources.push_back(job->source);
    metrics().input_tokens += job->source.size();
  }
  const DecodeOptions options = beams_.front()->options;
  const auto rows = static_cast<int64_t>(beams_.size()) * options.beam;
  auto before_step = [&] {
    metrics().batch(rows);
    ++metrics().steps;
    const auto now = Clock::now();
    if (std::all_of(beams_.begin(), beams_.end(), [&](const TranslatePtr& job) {
          return job->pending->cancelled() || job->pending->late(now);
        })) {
      throw NobodyWaits();
    }
  };
  metrics().active += static_cast<int64_t>(beams_.size());
  const auto jobs = beams_;
  try {
    auto results = task_->translate_rows(sources, options, before_step);
    for (size_t n = 0; n < jobs.size(); ++n) {
      jobs[n]->result = std::move(results[n]);
      metrics().output_tokens += task_->tokenizers().target->encode(jobs[n]->result.front().text).size() + 1;
      jobs[n]->pending->finish_one();
    }
  } catch (const NobodyWaits&) {
    for (const TranslatePtr& job : jobs) given_up(*job);
  } catch (...) {
    for (const TranslatePtr& job : jobs) job->pending->fail(std::current_exception());
  }
  metrics().active -= static_cast<int64_t>(jobs.size());
  beams_.clear();
}

void TranslationBatcher::encode_sentences() {
  std::erase_if(beginning_, [&](const TranslatePtr& job) { return given_up(*job); });
  if (beginning_.empty()) return;
  if (!steps_) steps_ = task_->encoder_decoder().start_slots(batch() + encoded_ahead(batch()));
  std::vector<std::vector<int64_t>> sources;
  std::vector<int64_t> slots, lengths;
  const int64_t begin = task_->tokenizers().target->begin();
  for (const TranslatePtr& job : beginning_) {
    sources.push_back(job->source);
    lengths.push_back(length_of(*job));
    metrics().input_tokens += job->source.size();
    const int64_t limit = task_->output_limit(job->source, job->options);
    slots.push_back(sentences_.begin({job, {begin, limit, job->options}, {}}));
  }
  beginning_.clear();
  encoded_.insert(encoded_.end(), slots.begin(), slots.end());
  steps_->begin(slots, task_->encoder_decoder().encode_apart(sources), lengths);
}

void TranslationBatcher::start_decoding() {
  auto decoded = sentences_.used().size() - encoded_.size();
  for (; !encoded_.empty() && decoded < static_cast<size_t>(batch()); ++decoded) {
    sentences_[encoded_.front()].decoding = true;
    encoded_.pop_front();
  }
}

void TranslationBatcher::step_sentences() {
  std::vector<int64_t> slots, tokens, all;
  std::vector<GreedySentence*> searches;
  for (const int64_t slot : sentences_.used()) {
    Sentence& sentence = sentences_[slot];
    if (given_up(*sentence.job)) {
      std::erase(encoded_, slot);
      sentences_.end(slot);
      continue;
    }
    if (!sentence.decoding) continue;
    all.push_back(static_cast<int64_t>(slots.size()));
    slots.push_back(slot);
    tokens.push_back(sentence.search.next());
    searches.push_back(&sentence.search);
  }
  if (slots.empty()) return;
  metrics().batch(static_cast<int64_t>(slots.size()));
  ++metrics().steps;
  const Tokenizer& tokenizer = *task_->tokenizers().target;
  advance_greedily(steps_->step(slots, tokens, all), tokenizer.end(), tokenizer.forbidden(), searches);
  metrics().output_tokens += slots.size();
  for (const int64_t slot : slots) {
    Sentence& sentence = sentences_[slot];
    if (sentence.search.done()) {
      finish(sentence);
      sentences_.end(slot);
    } else if (sentence.job->stream) {
      const std::string piece = sentence.shown.grow(task_->text_of(sentence.search.tokens()));
      if (!piece.empty()) sentence.job->pending->push(piece);
    }
  }
}

void TranslationBatcher::finish(Sentence& sentence) {
  const Hypothesis& found = sentence.search.result();
  TranslateJob& job = *sentence.job;
  job.result = {{task_->text_of(found.tokens), found.score, found.log_probability}};
  if (job.stream) {
    const std::string rest = sentence.shown.finish(job.result.front().text);
    if (!rest.empty()) job.pending->push(rest);
  }
  job.pending->finish_one();
}

void TranslationBatcher::fail_all(const std::exception_ptr& reason) {
  for (const TranslatePtr& job : beginning_) job->pending->fail(reason);
  beginning_.clear();
  encoded_.clear();
  sentences_.fail_all(reason);
}

}  // namespace synthesizer::serve
