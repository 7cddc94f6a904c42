#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decode/sampled_text.h"
#include "serve/pending_request.h"
#include "task/task.h"

namespace synthesizer::serve {

/// One text that a model works on. The request's thread makes it and reads its result once it has been
/// waited for; in between it belongs to the engine.
struct Job {
  explicit Job(std::shared_ptr<PendingRequest> pending) : pending(std::move(pending)) {}
  virtual ~Job() = default;

  std::shared_ptr<PendingRequest> pending;  ///< the request that waits for it
  Clock::time_point submitted;
};
using JobPtr = std::shared_ptr<Job>;

/// Text to text, greedily (beam 1) or with a beam.
struct TranslateJob : Job {
  using Job::Job;
  std::vector<int64_t> source;  ///< SequenceTask::source_row
  DecodeOptions options;
  bool stream = false;  ///< greedy only: the text is passed on in pieces as it is written
  std::vector<Translation> result;
};

/// Text that goes on from a prompt.
struct GenerateJob : Job {
  GenerateJob(std::shared_ptr<PendingRequest> pending, SampledText text)
      : Job(std::move(pending)), text(std::move(text)) {}
  SampledText text;
  bool stream = false;
  std::vector<std::string> stop;  ///< the text ends before the first of these
  std::string result;
  bool ended = false;  ///< by the model or a stop, not by the number of tokens
};

/// The class of a text.
struct ClassifyJob : Job {
  using Job::Job;
  std::string text;
  ClassificationResult result;
};

/// Anything else that computes with a model, on the engine's thread.
struct CallJob : Job {
  using Job::Job;
  std::function<void()> call;
};

/// Pieces of a text that grows token by token. A token alone may be half a character, so the text is made
/// anew from all tokens each time; what is not settled yet is held back.
class GrowingText {
 public:
  /// The text so far; what is new of it and will stay.
  std::string grow(const std::string& text);
  /// The whole text; the rest of it.
  std::string finish(const std::string& text) const;

 private:
  std::string shown_;
};

}  // namespace synthesizer::serve
