#pragma once

#include <deque>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "text/store_index.h"
#include "text/store_options.h"
#include "text/token_column.h"

namespace synthesizer {

/// What one thread tokenizes at a time: so many lines, fewer where they are long.
struct TextBlock {
  int64_t first = 0;               ///< number of its first example
  std::vector<std::string> texts;  ///< example by example, its fields one after another
  std::vector<LineRun> runs;       ///< where the examples come from; the first one always has a run
  int64_t bytes = 0;               ///< of the texts
};

/// The same, tokenized.
struct EncodedBlock {
  int64_t first = 0;
  std::vector<Tokens> tokens;
  std::vector<TextCount> counts;
  std::vector<LineRun> runs;
};

/// The blocks of a corpus, always cut at the same places.
class TextBlocks {
 public:
  /// Throws InvalidInput where the files have another number of fields than there are tokenizers, or none.
  explicit TextBlocks(const StoreOptions& options);
  size_t fields() const { return options_.tokenizers.size(); }
  /// The next block; without texts at the end.
  TextBlock next();

 private:
  void note_line(TextBlock& block);

  const StoreOptions& options_;
  ExampleReader reader_;
  LineRun run_;
  int64_t read_ = 0;
};

/// Tokenizes blocks with several threads; results come in the order in which the blocks were given.
class BlockEncoder {
 public:
  using Sink = std::function<void(EncodedBlock)>;
  BlockEncoder(const StoreOptions& options, Sink sink);
  void add(TextBlock block);
  /// Waits for all of them.
  void finish();

 private:
  void take_first();

  const StoreOptions& options_;
  Sink sink_;
  size_t threads_;
  std::deque<std::future<EncodedBlock>> working_;
};

/// Throws InvalidInput: a corpus of these files has nothing in it.
[[noreturn]] void refuse_empty(const Files& files);

}  // namespace synthesizer
