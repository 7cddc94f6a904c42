#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "interop/family.h"

namespace synthesizer {

/// What the files of a Hugging Face folder say of its tokenizer beside the vocabulary. None of them need be
/// there. What a tokenizer of ours does in another way is refused by name.
class TokenizerSettings {
 public:
  /// Throws InvalidInput where a file is damaged, or the tokenizer is of another class than these and the
  /// general ones of transformers, which do what tokenizer.json says.
  TokenizerSettings(ModelFolder& folder, std::initializer_list<const char*> classes);

  ForeignConfig config;     ///< tokenizer_config.json
  ForeignConfig tokenizer;  ///< tokenizer.json, which holds the vocabulary too
  bool has_tokenizer;       ///< there is a tokenizer.json

  /// The part "model" of tokenizer.json, which must be of this type; old files do not say it.
  ForeignConfig model(const char* type);
  /// Another part, which must be there and be of one of these types.
  ForeignConfig needed_part(const std::string& key, std::initializer_list<const char*> types);
  /// Throws InvalidInput where tokenizer.json puts other tokens around a text ("A") than these.
  void check_surroundings(const std::vector<std::string>& wanted);

  /// Tokens that were added to the vocabulary stand for themselves wherever they occur in a text. Throws
  /// InvalidInput where a file has one that is not known, or that takes the spaces beside it along where
  /// `spaces_count`: elsewhere they are dropped anyway.
  void check_added_tokens(const std::vector<std::string>& known, bool spaces_count = false);

 private:
  std::string folder_;
};

}  // namespace synthesizer
