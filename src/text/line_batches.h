#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/choice.h"
#include "text/batches.h"
#include "text/token_store.h"

namespace synthesizer {

/// What becomes of an example with more tokens than allowed.
enum class TooLong { error, skip, truncate };
inline Choices choices(TooLong) {
  static constexpr ChoiceName names[] = {{"error"}, {"skip"}, {"truncate"}};
  return names;
}

struct LineBatchOptions {
  int64_t batch_tokens = 4096;               ///< at most: rows × longest, of the largest field
  int64_t batch_examples = 0;                ///< at most; 0: as many as batch_tokens lets in
  std::vector<int64_t> max_lengths;          ///< a field, in tokens of the text itself; empty, or 0: no limit
  std::vector<std::optional<Token>> before;  ///< a field: put in front of its tokens; empty: nothing
  std::vector<std::optional<Token>> after;   ///< a field: put behind them; both count towards batch_tokens
  TooLong too_long = TooLong::error;
  uint64_t seed = 1;
  bool shuffle = true;  ///< without (evaluation), shortest first, the same in every epoch
};

/// Examples of one or more fields, those of like lengths together, so that little is padded.
///
/// All examples are sorted by the length of their last field, then by those of the others, and cut into
/// batches. In each epoch examples of equal lengths change places and batches come in another order; the cuts
/// stay, since the lengths in sorted order do. 8 bytes an example are held, 16 when shuffled.
class LineBatches : public Batches {
 public:
  /// The store is to outlive it. Throws InvalidInput where an example is too long for a batch, or
  /// (TooLong::error) for its field, and where nothing is left.
  LineBatches(const TokenStore& store, LineBatchOptions options);

  int64_t per_epoch() const override { return static_cast<int64_t>(cuts_.size()) - 1; }
  Batch make(int64_t sequence) const override;
  std::string describe(const Batch& batch) const override;

  int64_t examples() const { return static_cast<int64_t>(sorted_.size()); }  ///< in an epoch
  int64_t too_long() const { return too_long_; }                             ///< skipped or truncated
  /// Of a field over an epoch: tokens as they stand in batches, words and characters of the original text.
  struct Totals {
    int64_t tokens = 0, words = 0, characters = 0;
  };
  Totals totals(size_t field) const;
  int64_t empty() const { return empty_; }  ///< skipped: a field has no tokens

 private:
  struct Epoch {
    int64_t number;
    std::vector<int64_t> examples, batches;
  };

  void check_options();
  void select();
  void sort();
  bool fits(int64_t example);
  void cut();
  /// Tokens of the text that go into a batch.
  int64_t kept(int64_t example, size_t field) const;
  /// The same with those put around it.
  int64_t padded(int64_t example, size_t field) const;
  bool same_lengths(int64_t a, int64_t b) const;
  std::shared_ptr<const Epoch> epoch(int64_t number) const;

  const TokenStore& store_;
  LineBatchOptions options_;
  std::vector<int64_t> sorted_;
  std::vector<int64_t> cuts_;  // batch i is [cuts_[i], cuts_[i + 1]) of the sorted examples
  int64_t too_long_ = 0, empty_ = 0;

  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Epoch> epoch_;  // the one asked for last
};

}  // namespace synthesizer
