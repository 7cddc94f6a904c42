#include "serve/generation_batcher.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <span>

#include "decode/candidates.h"

namespace synthesizer::serve {

GenerationBatcher::GenerationBatcher(LanguageModelTask& task, int64_t batch, Metrics& metrics)
    : Batcher(batch, metrics), task_(&task), texts_(batch, metrics) {}

void GenerationBatcher::choose() {
  take([&](const JobPtr& job) {
    auto own = std::dynamic_pointer_cast<GenerateJob>(job);
    if (!own || texts_.free() == 0) return false;
    texts_.begin({std::move(own), {}});
    return true;
  });
}

bool GenerationBatcher::settle(Text& generated) const {
  GenerateJob& job = *generated.job;
  std::string text = task_->text_of(job.text.drawn());
  size_t cut = std::string::npos;
  for (const std::string& stop : job.stop) cut = std::min(cut, text.find(stop));
  const bool stopped = cut != std::string::npos, done = stopped || job.text.done();
  if (stopped) text.resize(cut);
  if (job.stream) {
    // Nothing is shown that may turn out to be the beginning of a stop.
    std::string settled = text;
    size_t held = 0;
    for (const std::string& stop : job.stop) {
      for (size_t n = 1; !done && n < stop.size(); ++n) {
        if (settled.ends_with(stop.substr(0, n))) held = std::max(held, n);
      }
    }
    settled.resize(settled.size() - held);
    std::string piece = generated.shown.grow(settled);
    if (done) piece += generated.shown.finish(text);
    if (!piece.empty()) job.pending->push(piece);
  }
  if (!done) return false;
  job.result = std::move(text);
  job.ended = stopped || job.text.ended();
  job.pending->finish_one();
  return true;
}

void GenerationBatcher::work() {
  std::vector<int64_t> slots, tokens, wanted;
  for (const int64_t slot : texts_.used()) {
    GenerateJob& job = *texts_[slot].job;
    if (given_up(job) || (job.text.done() && settle(texts_[slot]))) {
      texts_.end(slot);
      continue;
    }
    if (!steps_) steps_ = task_->language_model().start_slots(batch());
    const auto feed = job.text.feed();
    if (feed.restart) steps_->begin(slot);
    if (feed.wanted) wanted.push_back(static_cast<int64_t>(slots.size()));
    slots.push_back(slot);
    tokens.push_back(feed.token);
  }
  if (slots.empty()) return;
  metrics().batch(static_cast<int64_t>(slots.size()));
  ++metrics().steps;
  metrics().input_tokens += slots.size() - wanted.size();
  metrics().output_tokens += wanted.size();
  const auto logits = steps_->step(slots, tokens, wanted).contiguous();  // wanted×V
  forbid(logits, task_->tokenizers().target->forbidden());
  const auto vocabulary = static_cast<size_t>(logits.size(1));
  const float* values = logits.const_data_ptr<float>();
  std::vector<SampledText*> texts;
  for (const int64_t place : wanted) texts.push_back(&texts_[slots[static_cast<size_t>(place)]].job->text);
  at::parallel_for(0, static_cast<int64_t>(texts.size()), 1, [&](int64_t first, int64_t last) {
    for (auto n = static_cast<size_t>(first); n < static_cast<size_t>(last); ++n)
      texts[n]->draw_token(std::span(values + n * vocabulary, vocabulary));
  });
  for (const int64_t place : wanted) {
    const int64_t slot = slots[static_cast<size_t>(place)];
    if (settle(texts_[slot])) texts_.end(slot);
  }
}

}  // namespace synthesizer::serve
