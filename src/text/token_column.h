#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/mapped_file.h"
#include "text/store_file.h"
#include "text/tokenizer.h"

namespace synthesizer {

/// Sizes of a text, line end not counted.
struct TextCount {
  uint32_t words = 0, characters = 0;
};

/// Throws InvalidInput: what a store holds cannot be.
[[noreturn]] void damaged_store();

/// The name of a file of a field: "0.begins".
std::string column_file(size_t field, std::string_view kind);

/// One field of a tokenized corpus on disk, for field 0:
///
///     0.begins     int64, examples + 1: where the tokens of an example begin among those of the field
///     0.counts     TextCount, one an example
///     0.tokens.0   int32, then 0.tokens.1 …: shards; no example is split between two
class TokenColumnWriter {
 public:
  TokenColumnWriter(std::string folder, size_t field, int64_t shard_tokens);

  void add(std::span<const Token> tokens, TextCount count);
  int64_t tokens() const { return total_; }
  /// Puts the last files in place; all of them are appended to `files`.
  void commit(std::vector<StoredFile>& files);

 private:
  std::string folder_, prefix_;
  int64_t shard_tokens_;
  int64_t total_ = 0, in_shard_ = 0;
  StoreFile begins_, counts_;
  std::unique_ptr<StoreFile> shard_;
  std::vector<StoredFile> shards_;
};

/// The same, to read.
class TokenColumn {
 public:
  TokenColumn(MappedFile begins, MappedFile counts, std::vector<MappedFile> shards);
  /// The files fit each other and hold that many examples.
  bool is_complete(int64_t examples) const;

  /// Tokens of all examples before this one.
  int64_t before(int64_t example) const { return begins_[static_cast<size_t>(example)]; }
  /// Both throw InvalidInput where the files contradict each other: their sums were compared when they were
  /// opened, their numbers are not all looked at.
  int64_t length(int64_t example) const;
  std::span<const Token> tokens(int64_t example) const;
  TextCount count(int64_t example) const { return counts_[static_cast<size_t>(example)]; }

 private:
  MappedFile begins_file_, counts_file_;
  std::vector<MappedFile> shards_;
  std::span<const int64_t> begins_;
  std::span<const TextCount> counts_;
  std::vector<int64_t> starts_;  // of each shard among the tokens of the field, then their number
};

}  // namespace synthesizer
