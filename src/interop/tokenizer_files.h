#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "text/tokenizer.h"

namespace synthesizer {

// The tokenizers of Hugging Face folders. `size`: tokens of the model, which may be more than the tokenizer
// has. Each throws InvalidInput where a file is missing or damaged, or says something that is not supported.

/// Marian: SentencePiece's pieces, numbered by a vocabulary file.
struct MarianFiles {
  const char *model, *vocabulary;  ///< "source.spm", "vocab.json"
  int64_t size;
  Token begin, end, forbidden;
  bool language_codes;
};
std::shared_ptr<const Tokenizer> marian_tokenizer(const std::string& folder, const MarianFiles& files);

/// T5: spiece.model, and the tokens <extra_id_…> behind it.
std::shared_ptr<const Tokenizer> t5_tokenizer(const std::string& folder, int64_t size, Token begin, Token end,
                                              Token forbidden);

/// GPT-2: vocab.json with merges.txt, or tokenizer.json.
std::shared_ptr<const Tokenizer> gpt2_tokenizer(const std::string& folder, int64_t size, Token end);

/// BERT: vocab.txt, or tokenizer.json; how it normalizes from tokenizer_config.json or tokenizer.json.
std::shared_ptr<const Tokenizer> bert_tokenizer(const std::string& folder, int64_t size);

}  // namespace synthesizer
