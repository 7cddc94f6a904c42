#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fuzz/memory_file.h"
#include "fuzz/targets.h"
#include "text/content_hash.h"
#include "text/token_store.h"

namespace synthesizer::fuzz {
namespace {

const std::string kStoreHash = "0123456789abcdef";

/// Six parts: how many examples (a number), then the files, then index.json. An empty index is made to fit
/// the files, hashes included, so that what is behind it is reached.
std::string index_for(const std::vector<std::string_view>& parts, const std::vector<std::string>& names) {
  if (!parts[5].empty()) return std::string(parts[5]);
  nlohmann::json files = nlohmann::json::array();
  for (size_t i = 0; i < 4; ++i) {
    const std::string_view file = parts[i + 1];
    files.push_back(
        {{"name", names[i]}, {"bytes", file.size()}, {"hash", content_hash(file.data(), file.size())}});
  }
  const int64_t examples = parts[0].empty() ? 0 : static_cast<signed char>(parts[0][0]);
  return nlohmann::json{
      {"version", 1}, {"hash", kStoreHash}, {"examples", examples}, {"fields", 1}, {"files", files}}
      .dump();
}

void read_all(const TokenStore& store) {
  int64_t tokens = 0;
  for (int64_t i = 0; i < store.size(); ++i) {
    for (Token token : store.tokens(i, 0)) tokens += token != 0 ? 1 : 0;
    store.length(i, 0);
    store.words(i, 0);
    store.where(i, 0);
  }
  store.unknown_tokens(0);
  if (tokens > store.total_tokens(0)) fault("more tokens than there are");
}

}  // namespace

void run_token_store(std::string_view input) {
  static const std::vector<std::string> names = {"0.begins", "0.counts", "0.tokens.0", "lines", "index.json"};
  static const MemoryFolder folder(names);
  static const auto tokenizer = parse_tokenizer("synthesizer tokenizer 1 words 1\na\n", "tokenizer");
  const auto parts = parts_of(input, 6);
  for (size_t i = 0; i < 4; ++i) folder.write(i, parts[i + 1]);
  folder.write(4, index_for(parts, names));
  StoreOptions options;
  options.files.paths = {"train.txt"};
  options.files.format = TextFormat::lines;
  options.files.concatenate = true;
  options.tokenizers = {tokenizer.get()};
  const auto store = TokenStore::read(options, folder.path(), kStoreHash);
  if (store) accepted("a tokenized corpus", [&] { read_all(*store); });
}

}  // namespace synthesizer::fuzz
