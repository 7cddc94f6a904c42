#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace synthesizer {

/// The tokenizers of sacreBLEU, to the letter:
///
///     13a   mteval-v13a: ASCII punctuation apart; periods and commas unless between digits; entities read
///     none  split at white space
///     char  every character a word
///     intl  mteval-v14: Unicode punctuation apart unless beside a digit, symbols apart
enum class BleuTokenizer { mteval13a, none, characters, international };

/// By the names above, in that order.
const std::vector<std::string>& bleu_tokenizer_names();
BleuTokenizer bleu_tokenizer(std::string_view name);
const std::string& name_of(BleuTokenizer tokenizer);

/// The words of a line with one space between them.
std::string bleu_tokenize(std::string_view line, BleuTokenizer tokenizer);

}  // namespace synthesizer
