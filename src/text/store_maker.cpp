#include "text/store_maker.h"

#include <fmt/format.h>

#include <deque>
#include <future>
#include <utility>

#include "base/error.h"
#include "text/token_column.h"
#include "text/utf8.h"

namespace synthesizer {
namespace {

// A block is what one thread tokenizes at a time: so many lines, fewer where they are long.
constexpr size_t kBlockLines = 4096;
constexpr size_t kBlockBytes = 4 << 20;

struct Encoded {
  std::vector<Tokens> tokens;  // example by example, its fields one after another
  std::vector<TextCount> counts;
};

Encoded encode(const std::vector<std::string>& texts, const std::vector<const Tokenizer*>& tokenizers) {
  Encoded block;
  block.tokens.reserve(texts.size());
  block.counts.reserve(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    block.tokens.push_back(tokenizers[i % tokenizers.size()]->encode(texts[i]));
    block.counts.push_back({static_cast<uint32_t>(split_words(texts[i]).size()),
                            static_cast<uint32_t>(count_characters(texts[i]))});
  }
  return block;
}

class StoreMaker {
 public:
  StoreMaker(const StoreOptions& options, const std::string& folder)
      : options_(options), reader_(options.files), lines_(folder, "lines") {
    if (reader_.fields() == 0) nothing();
    if (reader_.fields() != options.tokenizers.size()) {
      invalid(fmt::format("{} has {} fields, where {} are needed", options.files.paths[0], reader_.fields(),
                          options.tokenizers.size()));
    }
    for (size_t i = 0; i < reader_.fields(); ++i) {
      columns_.push_back(std::make_unique<TokenColumnWriter>(folder, i, options.shard_tokens));
    }
  }

  StoreIndex run() {
    const auto threads = static_cast<size_t>(std::max(options_.threads, 1));
    const auto how = threads > 1 ? std::launch::async : std::launch::deferred;
    // As many blocks are in work as there are threads; they are written in the order they were read in.
    std::deque<std::future<Encoded>> working;
    for (auto texts = read_block(); !texts.empty(); texts = read_block()) {
      if (working.size() == threads) write_first(working);
      working.push_back(
          std::async(how, [this, block = std::move(texts)] { return encode(block, options_.tokenizers); }));
    }
    while (!working.empty()) write_first(working);
    return commit();
  }

 private:
  [[noreturn]] void nothing() const {
    invalid(fmt::format("{} is empty: there is nothing to learn from", options_.files.paths[0]));
  }

  std::vector<std::string> read_block() {
    std::vector<std::string> texts, fields;
    size_t bytes = 0;
    while (texts.size() < kBlockLines * columns_.size() && bytes < kBlockBytes && reader_.next(fields)) {
      note_line();
      for (auto& field : fields) {
        bytes += field.size();
        texts.push_back(std::move(field));
      }
    }
    return texts;
  }

  /// A run is written where an example does not simply come from the next line.
  void note_line() {
    const LineRun here{read_, static_cast<int64_t>(reader_.file()), reader_.line()};
    if (read_ == 0 || here.file != run_.file || here.line - run_.line != here.example - run_.example) {
      run_ = here;
      lines_.write(std::span<const LineRun>(&run_, 1));
    }
    ++read_;
  }

  void write_first(std::deque<std::future<Encoded>>& working) {
    const Encoded block = working.front().get();
    working.pop_front();
    for (size_t i = 0; i < block.tokens.size(); ++i) {
      columns_[i % columns_.size()]->add(block.tokens[i], block.counts[i]);
    }
    written_ += static_cast<int64_t>(block.tokens.size() / columns_.size());
    if (options_.progress) options_.progress(written_);
  }

  StoreIndex commit() {
    int64_t tokens = 0;
    for (const auto& column : columns_) tokens += column->tokens();
    if (tokens == 0) nothing();
    StoreIndex index{{}, written_, static_cast<int64_t>(columns_.size()), {lines_.commit()}};
    for (auto& column : columns_) column->commit(index.files);
    return index;
  }

  const StoreOptions& options_;
  ExampleReader reader_;
  StoreFile lines_;
  std::vector<std::unique_ptr<TokenColumnWriter>> columns_;
  LineRun run_;
  int64_t read_ = 0, written_ = 0;
};

}  // namespace

StoreIndex make_store(const StoreOptions& options, const std::string& folder) {
  return StoreMaker(options, folder).run();
}

}  // namespace synthesizer
