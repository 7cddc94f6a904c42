#pragma once

#include <string>
#include <string_view>

namespace synthesizer {

/// The stem of a word in small letters: "relational" becomes "relat". Porter's algorithm (1980) with the
/// changes NLTK makes by default, which ROUGE and METEOR are computed with: irregular words, short words in
/// -ies and -ied, y after a vowel, -alli before -bli, -fulli and -logi. Words of one or two characters stay.
std::string porter_stem(std::string_view word);

}  // namespace synthesizer
