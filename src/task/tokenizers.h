#pragma once

#include <memory>
#include <string>

#include "task/recipe.h"
#include "text/tokenizer.h"

namespace synthesizer {

/// The tokenizers of a run: one for both sides, or one for each.
struct Tokenizers {
  std::shared_ptr<const Tokenizer> source, target;

  bool joint() const { return source == target; }
  /// Of their contents: a model remembers it, so that one of another run is found out.
  std::string hash() const;
};

/// As the recipe says: trained from its training text, or loaded from the file it names.
Tokenizers make_tokenizers(const Recipe& recipe);

/// tokenizer.model in a run's folder, and tokenizer.target.model where there are two.
void save_tokenizers(const std::string& folder, const Tokenizers& tokenizers);
Tokenizers load_tokenizers(const std::string& folder);

}  // namespace synthesizer
