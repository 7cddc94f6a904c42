#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "interop/family.h"
#include "text/tokenizer.h"

namespace synthesizer {

// The tokenizers of Hugging Face folders. `size`: tokens of the model, which may be more than the tokenizer
// has. Each throws InvalidInput where a file is missing or damaged, or says something that is not supported.
// Where there is a tokenizer.json it holds, as in transformers, also beside the files of a vocabulary.

/// Marian: SentencePiece's pieces, numbered by a vocabulary file.
struct MarianFiles {
  const char* model;       ///< "source.spm"
  std::string vocabulary;  ///< "vocab.json"
  int64_t size;
  Token begin, end, forbidden;
  bool language_codes;
};
std::shared_ptr<const Tokenizer> marian_tokenizer(const std::string& folder, const MarianFiles& files);

/// Throws InvalidInput where the folder's settings are of another tokenizer than MarianMT's, whose texts are
/// padded with this one of the vocabulary.
void check_marian_settings(ModelFolder& folder, const Tokenizer& source, Token pad);

/// T5: tokenizer.json, or spiece.model and the tokens <extra_id_…> behind it.
std::shared_ptr<const Tokenizer> t5_tokenizer(ModelFolder& folder, int64_t size, Token begin, Token end,
                                              Token forbidden);

/// GPT-2: tokenizer.json, or vocab.json with merges.txt.
std::shared_ptr<const Tokenizer> gpt2_tokenizer(ModelFolder& folder, int64_t size, Token end);

/// BERT: tokenizer.json, or vocab.txt; how it normalizes from tokenizer_config.json or tokenizer.json.
std::shared_ptr<const Tokenizer> bert_tokenizer(ModelFolder& folder, int64_t size);

}  // namespace synthesizer
