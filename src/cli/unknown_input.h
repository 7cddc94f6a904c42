#pragma once

#include <string>
#include <vector>

#include "task/unknown_tokens.h"

namespace synthesizer::cli {

/// Counts what a tokenizer has no token for in the lines of standard input, to say it once, at the end.
class UnknownInput {
 public:
  explicit UnknownInput(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
  /// `first`: the number of the first of these lines, from 1.
  void add(const std::vector<std::string>& lines, int64_t first);
  /// On standard error, where there were any. `run`: whose tokenizer it is.
  void report(const std::string& run) const;

 private:
  const Tokenizer& tokenizer_;
  UnknownTokens all_;
  int64_t lines_ = 0, first_line_ = 0;  ///< that have some, and the first of them
};

}  // namespace synthesizer::cli
