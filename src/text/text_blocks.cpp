#include "text/text_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "text/utf8.h"

namespace synthesizer {
namespace {

constexpr size_t kBlockLines = 4096;
constexpr int64_t kBlockBytes = 4 << 20;

EncodedBlock encode_block(TextBlock block, const std::vector<const Tokenizer*>& tokenizers) {
  EncodedBlock encoded{block.first, {}, {}, std::move(block.runs)};
  encoded.tokens.reserve(block.texts.size());
  encoded.counts.reserve(block.texts.size());
  for (size_t i = 0; i < block.texts.size(); ++i) {
    const std::string& text = block.texts[i];
    encoded.tokens.push_back(tokenizers[i % tokenizers.size()]->encode(text));
    encoded.counts.push_back(
        {static_cast<uint32_t>(split_words(text).size()), static_cast<uint32_t>(count_characters(text))});
  }
  return encoded;
}

}  // namespace

void refuse_empty(const Files& files) {
  invalid(fmt::format("{} is empty: it has no text", files.paths[0]));
}

TextBlocks::TextBlocks(const StoreOptions& options) : options_(options), reader_(options.files) {
  if (reader_.fields() == 0) refuse_empty(options.files);
  if (reader_.fields() != options.tokenizers.size()) {
    invalid(fmt::format("{} has {} fields, where {} are needed", options.files.paths[0], reader_.fields(),
                        options.tokenizers.size()));
  }
}

TextBlock TextBlocks::next() {
  TextBlock block;
  block.first = read_;
  std::vector<std::string> example;
  while (block.texts.size() < kBlockLines * fields() && block.bytes < kBlockBytes && reader_.next(example)) {
    note_line(block);
    for (auto& field : example) {
      block.bytes += static_cast<int64_t>(field.size());
      block.texts.push_back(std::move(field));
    }
  }
  return block;
}

void TextBlocks::note_line(TextBlock& block) {
  const LineRun here{read_, static_cast<int64_t>(reader_.file()), reader_.line()};
  if (block.runs.empty() || !continues(run_, here)) block.runs.push_back(run_ = here);
  ++read_;
}

BlockEncoder::BlockEncoder(const StoreOptions& options, Sink sink)
    : options_(options),
      sink_(std::move(sink)),
      threads_(static_cast<size_t>(std::max(options.threads, 1))) {}

void BlockEncoder::add(TextBlock block) {
  const auto how = threads_ > 1 ? std::launch::async : std::launch::deferred;
  if (working_.size() == threads_) take_first();
  working_.push_back(std::async(how, [this, own = std::move(block)]() mutable {
    return encode_block(std::move(own), options_.tokenizers);
  }));
}

void BlockEncoder::take_first() {
  EncodedBlock block = working_.front().get();
  working_.pop_front();
  sink_(std::move(block));
}

void BlockEncoder::finish() {
  while (!working_.empty()) take_first();
}

}  // namespace synthesizer
