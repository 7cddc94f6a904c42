#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "text/batches.h"
#include "text/token_store.h"

namespace synthesizer {

struct StreamBatchOptions {
  Token line_end = 0;  ///< follows the tokens of every line
  Token first = 0;     ///< fed before the very first token
  int64_t length = 0;  ///< of a window
  int64_t rows = 1;    ///< windows per batch; fewer where the whole text has fewer
  uint64_t seed = 1;
  bool shuffle = true;
};

/// For language models: all lines, each with its line end, are one stream, cut into windows. Field 0 of a
/// batch is what is fed, field 1 what follows each of its tokens.
///
/// Shuffled, every epoch cuts at another offset below `length`, leaves out the ragged ends and visits the
/// windows in an order of its own; the last batch is filled up from the front of that order, so that all have
/// the same shape. Not shuffled (evaluation), every token of the stream is predicted exactly once: the last
/// window may be shorter, and the last batch may have fewer rows.
class StreamBatches : public Batches {
 public:
  /// The store has one field and is to outlive it. Throws InvalidInput where an option cannot be met.
  StreamBatches(const TokenStore& store, StreamBatchOptions options);

  int64_t per_epoch() const override;
  Batch make(int64_t sequence) const override;
  std::string describe(const Batch& batch) const override;

  /// Of the stream; a line end is one of each.
  int64_t tokens() const { return tokens_; }
  int64_t words() const { return words_; }
  int64_t characters() const { return characters_; }

 private:
  struct Epoch {
    int64_t number, offset;
    std::vector<int64_t> windows;
  };

  /// Where a line begins in the stream.
  int64_t begin_of(int64_t line) const { return store_.tokens_before(line, 0) + line; }
  int64_t line_at(int64_t position) const;
  /// The stream's tokens from `position` on; the one before the first is `first`.
  void copy(int64_t position, int64_t count, int64_t* to) const;
  /// Where the windows of a batch begin.
  std::vector<int64_t> begins(int64_t sequence) const;
  std::shared_ptr<const Epoch> epoch(int64_t number) const;

  const TokenStore& store_;
  StreamBatchOptions options_;
  int64_t tokens_ = 0, words_ = 0, characters_ = 0;
  int64_t windows_ = 0;  // in an epoch that begins at offset 0; when shuffled, whole ones only

  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Epoch> epoch_;  // the one asked for last
};

}  // namespace synthesizer
