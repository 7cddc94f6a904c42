#pragma once

#include <stdexcept>
#include <string>

#include "metric/metric.h"

namespace synthesizer::testing {

/// Texts and references that are hard on a metric. What the tests expect of them was computed by sacreBLEU
/// 2.4.3 itself.
struct TextCase {
  std::string name;
  Segments hypotheses;
  References references;
};

inline const std::vector<TextCase>& text_cases() {
  static const std::vector<TextCase> cases = {
      {"one_reference",
       {"The cat sat on the mat.", "It is a dog, isn't it?"},
       {{"The cat sat on a mat.", "It's a dog, is it not?"}}},
      {"equal_texts", {"the quick brown fox jumps"}, {{"the quick brown fox jumps"}}},
      {"nothing_in_common", {"a b c d"}, {{"e f g h"}}},
      {"empty_hypothesis", {""}, {{"a b c d"}}},
      {"empty_reference", {"a b c d"}, {{""}}},
      {"both_empty", {""}, {{""}}},
      {"some_empty_hypotheses", {"", "the cat sat on the mat"}, {{"a dog", "the cat sat on the rug"}}},
      {"one_word", {"cat"}, {{"cat"}}},
      {"one_wrong_word", {"cat"}, {{"dog"}}},
      {"two_words", {"the cat"}, {{"the cat sat"}}},
      {"repeated_words_are_clipped", {"the the the the the the the"}, {{"the cat is on the mat"}}},
      {"no_four_grams_match", {"the cat the mat on sat dog"}, {{"the cat sat on the mat dog"}}},
      {"short_hypothesis", {"the cat sat on"}, {{"the cat sat on the mat by the door"}}},
      {"long_hypothesis", {"the cat sat on the mat by the door today"}, {{"the cat sat on the mat"}}},
      {"three_references",
       {"the cat sat on the mat .", "he reads books"},
       {{"a cat sat on the mat .", "he reads a book"},
        {"the cat is on the mat .", "he is reading books"},
        {"there is a cat", "books are read by him"}}},
      {"closest_length_of_two", {"a b c d e"}, {{"a b c d e f g"}, {"a b c"}}},
      {"closest_length_the_other_way", {"a b c d e"}, {{"a b c"}, {"a b c d e f g"}}},
      {"capitals", {"The CAT Sat on THE Mat"}, {{"the cat sat on the mat"}}},
      {"greek_and_turkish_capitals",
       {"ΟΔΟΣ ΣΑΣ ΆΣ' İstanbul STRASSE DIŞ ǅ"},
       {{"οδος σας άς' i̇stanbul strasse diş ǆ"}}},
      {"numbers", {"it was 1,000.5 in 1990-91, not 1.000,5."}, {{"It was 1,000.5 in 1990-91, not 1,000.5"}}},
      {"currency", {"5€ and £3.20 or $4,000 ©"}, {{"5 € and £ 3.20 or $ 4,000 ©"}}},
      {"entities", {"&quot;AT&amp;T&quot; said &lt;b&gt;"}, {{"\"AT&T\" said <b>"}}},
      {"quotes_and_dashes",
       {"„Was?“ – fragte er … «oui» l'été—c’est"},
       {{"„ Was ? “ – fragte er... «oui» l'été – c’est"}}},
      {"chinese", {"你好，世界。我在東京"}, {{"你好，世界！我在北京"}}},
      {"emoji", {"😀 smile👍🏽 ok. 🫨 go on now"}, {{"😀 smile👍🏽 okay. 🫨 go on"}}},
      {"trailing_space", {"the cat sat on 1999.  "}, {{"the cat sat on 1999 .\u3000"}}},
  };
  return cases;
}

inline const TextCase& text_case(const std::string& name) {
  for (const TextCase& one : text_cases()) {
    if (one.name == name) return one;
  }
  throw std::out_of_range("no text case " + name);
}

/// The name of a test made from a table whose lines have a name.
constexpr auto kNameOfCase = [](const auto& info) { return std::string(info.param.name); };

}  // namespace synthesizer::testing
