#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/batch.h"
#include "text/folder_test.h"
#include "text/token_store.h"
#include "text/utf8.h"

namespace synthesizer::testing {

/// A text of numbers, to the tokens of these numbers: what a test expects can be read off its text.
class NumberTokenizer : public Tokenizer {
 public:
  explicit NumberTokenizer(std::string name = "numbers") : name_(std::move(name)) {}

  Tokens encode(std::string_view line) const override {
    Tokens tokens;
    for (auto word : split_words(line)) tokens.push_back(std::stoi(std::string(word)));
    return tokens;
  }
  std::string decode(std::span<const Token> tokens) const override {
    std::string text;
    for (Token token : tokens) text += piece(token) + " ";
    return text;
  }
  std::string piece(Token token) const override { return std::to_string(token); }
  int64_t size() const override { return 1'000'000; }
  Token begin() const override { return 1; }
  Token end() const override { return 2; }
  std::string kind() const override { return "numbers"; }
  std::string serialized() const override { return name_; }

 private:
  std::string name_;
};

/// A test that opens token stores.
class StoreTest : public FolderTest {
 protected:
  /// One tokenizer a file, unless another number of fields is given.
  StoreOptions options(std::vector<std::string> paths, size_t fields = 0) const {
    StoreOptions made;
    made.files.paths = std::move(paths);
    made.tokenizers.assign(fields > 0 ? fields : made.files.paths.size(), &numbers_);
    made.cache = path("cache");
    return made;
  }
  /// `train.tsv`, a row an example.
  TokenStore open_table(const std::string& rows, size_t fields = 1) const {
    return TokenStore::open(options({write("train.tsv", rows)}, fields));
  }
  /// Files in the cache whose paths end so.
  std::vector<std::filesystem::path> stored(const std::string& ending) const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path("cache"))) {
      if (entry.path().string().ends_with(ending)) found.push_back(entry.path());
    }
    return found;
  }

  NumberTokenizer numbers_;
};

inline Tokens copied(std::span<const Token> tokens) {
  return {tokens.begin(), tokens.end()};
}

/// The message of the InvalidInput that this throws.
inline std::string mistake(const std::function<void()>& action) {
  try {
    action();
  } catch (const InvalidInput& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

inline std::vector<int64_t> row(const Field& field, int64_t index) {
  const auto begin = field.ids.begin() + index * field.columns;
  return {begin, begin + field.lengths[static_cast<size_t>(index)]};
}

}  // namespace synthesizer::testing
