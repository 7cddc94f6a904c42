#include "text/token_column.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace synthesizer {

void damaged_store() {
  invalid(
      "a tokenized corpus in the cache is damaged: delete the folder of data.cache (by default "
      "~/.cache/synthesizer) and try again");
}

std::string column_file(size_t field, std::string_view kind) {
  return fmt::format("{}.{}", field, kind);
}

TokenColumnWriter::TokenColumnWriter(std::string folder, size_t field, int64_t shard_tokens)
    : folder_(std::move(folder)),
      prefix_(column_file(field, "tokens.")),
      shard_tokens_(shard_tokens),
      begins_(folder_, column_file(field, "begins")),
      counts_(folder_, column_file(field, "counts")) {}

void TokenColumnWriter::add(std::span<const Token> tokens, TextCount count) {
  const auto length = static_cast<int64_t>(tokens.size());
  if (shard_ && in_shard_ > 0 && in_shard_ + length > shard_tokens_) {
    shards_.push_back(shard_->commit());
    shard_.reset();
  }
  if (!shard_) {
    shard_ = std::make_unique<StoreFile>(folder_, fmt::format("{}{}", prefix_, shards_.size()));
    in_shard_ = 0;
  }
  begins_.write(std::span<const int64_t>(&total_, 1));
  counts_.write(std::span<const TextCount>(&count, 1));
  shard_->write(tokens);
  in_shard_ += length;
  total_ += length;
}

void TokenColumnWriter::commit(std::vector<StoredFile>& files) {
  begins_.write(std::span<const int64_t>(&total_, 1));
  files.push_back(begins_.commit());
  files.push_back(counts_.commit());
  files.insert(files.end(), shards_.begin(), shards_.end());
  if (shard_) files.push_back(shard_->commit());
}

TokenColumn::TokenColumn(MappedFile begins, MappedFile counts, std::vector<MappedFile> shards)
    : begins_file_(std::move(begins)),
      counts_file_(std::move(counts)),
      shards_(std::move(shards)),
      begins_(begins_file_.as<int64_t>()),
      counts_(counts_file_.as<TextCount>()),
      starts_{0} {
  for (const auto& shard : shards_) {
    starts_.push_back(starts_.back() + static_cast<int64_t>(shard.as<Token>().size()));
  }
}

bool TokenColumn::is_complete(int64_t examples) const {
  const auto wanted = static_cast<size_t>(examples);
  return counts_.size() == wanted && begins_.size() == wanted + 1 && begins_.back() == starts_.back();
}

int64_t TokenColumn::length(int64_t example) const {
  const int64_t begin = before(example), end = before(example + 1);
  if (begin < 0 || end < begin || end > starts_.back()) damaged_store();
  return end - begin;
}

std::span<const Token> TokenColumn::tokens(int64_t example) const {
  const auto count = static_cast<size_t>(length(example));
  if (count == 0) return {};
  const int64_t begin = before(example);
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), begin);
  const auto shard = static_cast<size_t>(next - starts_.begin()) - 1;
  const auto all = shards_[shard].as<Token>();
  const auto place = static_cast<size_t>(begin - starts_[shard]);
  if (count > all.size() - place) damaged_store();  // no example is split between two shards
  return all.subspan(place, count);
}

}  // namespace synthesizer
