#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/text_blocks.h"

namespace synthesizer {

/// Writes tokenized blocks, in their order, as the files of a token store.
class StoreWriter {
 public:
  /// `folder` exists.
  StoreWriter(const StoreOptions& options, const std::string& folder);
  void add(const EncodedBlock& block);
  /// Puts the files in place. The index is returned, not written: the caller does that when all is well.
  /// Throws InvalidInput where there are no tokens.
  StoreIndex commit();

 private:
  const StoreOptions& options_;
  StoreFile lines_;
  std::vector<std::unique_ptr<TokenColumnWriter>> columns_;
  LineRun run_;
  int64_t examples_ = 0;
};

}  // namespace synthesizer
