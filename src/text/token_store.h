#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "text/store_index.h"
#include "text/store_options.h"
#include "text/token_column.h"

namespace synthesizer {

/// A tokenized corpus in memory-mapped files, so that it may be larger than memory. It is made once, under
/// cache/<hash>/, and used again while files, tokenizers and format stay what they were; a folder that is
/// damaged or half made is made again. A large corpus is made in parts (store_parts.h), by all processes that
/// open it at the same time; after a kill the parts that were made are used.
class TokenStore {
 public:
  /// Throws InvalidInput where the files cannot be read as they should, or hold nothing to learn from.
  static TokenStore open(const StoreOptions& options);

  /// The store of that hash in a folder, without its file_hashes(); nothing where the folder has none, a
  /// damaged or a half made one.
  static std::optional<TokenStore> read(const StoreOptions& options, const std::string& folder,
                                        const std::string& hash);

  int64_t size() const { return index_.examples; }
  size_t fields() const { return columns_.size(); }
  const Files& files() const { return files_; }

  std::span<const Token> tokens(int64_t example, size_t field) const {
    return columns_[field].tokens(example);
  }
  int64_t length(int64_t example, size_t field) const { return columns_[field].length(example); }
  /// Tokens of this field in all examples before this one; `example` may be size().
  int64_t tokens_before(int64_t example, size_t field) const { return columns_[field].before(example); }
  int64_t total_tokens(size_t field) const { return tokens_before(size(), field); }
  /// How many of a field's tokens stand for text that its tokenizer has no token for; nothing where the
  /// tokenizer knows all text. Reads all tokens.
  std::optional<int64_t> unknown_tokens(size_t field) const;

  /// Of the text, line end not counted.
  int64_t words(int64_t example, size_t field) const { return columns_[field].count(example).words; }
  int64_t characters(int64_t example, size_t field) const {
    return columns_[field].count(example).characters;
  }

  /// Where a field of an example comes from.
  const std::string& path(int64_t example, size_t field = 0) const;
  int64_t line(int64_t example) const;                         ///< from 1
  std::string where(int64_t example, size_t field = 0) const;  ///< "train.en:17"

  /// Of the contents of the files, tokenizers and format; XXH3-128 in hex. Names of files don't matter.
  const std::string& hash() const { return index_.hash; }
  /// Path and hash of the bytes of each file, as they are on disk.
  const std::vector<std::pair<std::string, std::string>>& file_hashes() const { return file_hashes_; }
  /// It was there before.
  bool reused() const { return reused_; }

 private:
  TokenStore() = default;
  bool load(const std::string& folder, const std::string& hash);
  const LineRun& run_of(int64_t example) const;

  Files files_;
  StoreIndex index_;
  std::vector<TokenColumn> columns_;
  std::vector<Token> unknown_;     // of each field's tokenizer; -1: it has none
  std::vector<MappedFile> lines_;  // one; none before it is loaded
  std::vector<std::pair<std::string, std::string>> file_hashes_;
  bool reused_ = false;
};

}  // namespace synthesizer
