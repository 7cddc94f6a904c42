#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "text/examples.h"
#include "text/tokenizer.h"

namespace synthesizer {

/// What a token store is made from, and how.
struct StoreOptions {
  Files files;
  std::vector<const Tokenizer*> tokenizers;     ///< one per field
  std::string cache;                            ///< folder; each store has one of its own in it
  int threads = 1;                              ///< that tokenize
  std::function<void(int64_t lines)> progress;  ///< called now and then while a store is made
  int64_t part_bytes = int64_t{32} << 20;       ///< text that a kill can make it tokenize again, about
  int64_t shard_tokens = int64_t{64} << 20;     ///< the most in one file, a longer example aside
};

}  // namespace synthesizer
