#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "task/tokenizers.h"

namespace synthesizer {

/// One file of a folder that is to be written.
struct FolderFile {
  std::string name, contents;
};
using FolderFiles = std::vector<FolderFile>;

// The tokenizers of runs as files of Hugging Face, the way back of tokenizer_files.h. `longest`: tokens that
// the model can take. Each throws InvalidInput where the family has no form for the tokenizer.

struct MarianTokenizerFiles {
  FolderFiles files;
  Token pad;  ///< of both sides
};
/// `shared`: one vocabulary for both sides.
MarianTokenizerFiles marian_tokenizer_files(const Tokenizers& tokenizers, bool shared, int64_t longest);

FolderFiles t5_tokenizer_files(const Tokenizer& tokenizer, int64_t longest);
FolderFiles gpt2_tokenizer_files(const Tokenizer& tokenizer, int64_t longest);
FolderFiles bert_tokenizer_files(const Tokenizer& tokenizer, int64_t longest);

/// The number of that piece; -1 where there is none.
Token number_of_piece(const Tokenizer& tokenizer, const std::string& piece);

}  // namespace synthesizer
