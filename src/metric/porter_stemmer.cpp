#include "metric/porter_stemmer.h"

#include <initializer_list>
#include <unordered_map>
#include <vector>

#include "text/unicode_text.h"

namespace synthesizer {
namespace {

// Characters, not bytes: lengths and pairs of letters count.
using Word = std::u32string;
using View = std::u32string_view;

/// For each letter whether it is a consonant: all but a, e, i, o, u, and y behind a consonant.
std::vector<bool> consonants(View word) {
  std::vector<bool> flags;
  for (const char32_t letter : word) {
    const bool vowel = View(U"aeiou").find(letter) != View::npos;
    flags.push_back(letter == U'y' ? flags.empty() || !flags.back() : !vowel);
  }
  return flags;
}

/// Porter's m: how often a consonant follows a vowel.
int measure(View stem) {
  const auto flags = consonants(stem);
  int count = 0;
  for (size_t i = 1; i < flags.size(); ++i) count += flags[i] && !flags[i - 1];
  return count;
}

bool contains_vowel(View stem) {
  for (const bool consonant : consonants(stem)) {
    if (!consonant) return true;
  }
  return false;
}

bool ends_in_consonant(View word) {
  return !word.empty() && consonants(word).back();
}

bool ends_in_double_consonant(View word) {
  return word.size() >= 2 && word.back() == word[word.size() - 2] && ends_in_consonant(word);
}

/// Porter's *o: consonant, vowel, consonant that is not w, x or y; or a word of just vowel and consonant.
bool ends_in_cvc(View word) {
  const size_t n = word.size();
  const auto flags = consonants(word);
  if (n == 2) return !flags[0] && flags[1];
  return n > 2 && flags[n - 3] && !flags[n - 2] && flags[n - 1] &&
         View(U"wxy").find(word.back()) == View::npos;
}

View without(View word, View suffix) {
  return word.substr(0, word.size() - suffix.size());
}

struct Rule {
  View suffix, replacement;
};

/// The first rule whose suffix the word has is the only one tried: it needs a stem of more than that measure.
Word apply(const Word& word, std::initializer_list<Rule> rules, int more_than) {
  for (const Rule& rule : rules) {
    if (!word.ends_with(rule.suffix)) continue;
    const View stem = without(word, rule.suffix);
    return measure(stem) > more_than ? Word(stem).append(rule.replacement) : word;
  }
  return word;
}

/// Plurals.
Word step_1a(const Word& word) {
  if (word.ends_with(U"ies") && word.size() == 4) return Word(without(word, U"s"));
  return apply(word, {{U"sses", U"ss"}, {U"ies", U"i"}, {U"ss", U"ss"}, {U"s", U""}}, -1);
}

/// Past tenses and gerunds, whose stem then is mended: hoping, hopping.
Word step_1b(const Word& word) {
  if (word.ends_with(U"ied")) return Word(without(word, word.size() == 4 ? U"d" : U"ed"));
  if (word.ends_with(U"eed"))
    return measure(without(word, U"eed")) > 0 ? word.substr(0, word.size() - 1) : word;
  for (const View suffix : {View(U"ed"), View(U"ing")}) {
    if (!word.ends_with(suffix) || !contains_vowel(without(word, suffix))) continue;
    const Word stem(without(word, suffix));
    for (const View ending : {View(U"at"), View(U"bl"), View(U"iz")}) {
      if (stem.ends_with(ending)) return stem + U'e';
    }
    if (ends_in_double_consonant(stem)) {
      return View(U"lsz").find(stem.back()) == View::npos ? stem.substr(0, stem.size() - 1) : stem;
    }
    return measure(stem) == 1 && ends_in_cvc(stem) ? stem + U'e' : stem;
  }
  return word;
}

Word step_1c(const Word& word) {
  const bool changes = word.size() > 2 && word.ends_with(U"y") && ends_in_consonant(without(word, U"y"));
  return changes ? Word(without(word, U"y")) + U'i' : word;
}

Word step_2(const Word& word) {
  if (word.ends_with(U"alli") && measure(without(word, U"alli")) > 0)
    return step_2(Word(without(word, U"li")));
  // The l of -logi belongs to the stem, so that short ones such as geo- have a measure.
  if (word.ends_with(U"logi")) return measure(without(word, U"ogi")) > 0 ? Word(without(word, U"i")) : word;
  return apply(word, {{U"ational", U"ate"}, {U"tional", U"tion"}, {U"enci", U"ence"},   {U"anci", U"ance"},
                      {U"izer", U"ize"},    {U"bli", U"ble"},     {U"alli", U"al"},     {U"entli", U"ent"},
                      {U"eli", U"e"},       {U"ousli", U"ous"},   {U"ization", U"ize"}, {U"ation", U"ate"},
                      {U"ator", U"ate"},    {U"alism", U"al"},    {U"iveness", U"ive"}, {U"fulness", U"ful"},
                      {U"ousness", U"ous"}, {U"aliti", U"al"},    {U"iviti", U"ive"},   {U"biliti", U"ble"},
                      {U"fulli", U"ful"}},
               0);
}

Word step_3(const Word& word) {
  return apply(word,
               {{U"icate", U"ic"},
                {U"ative", U""},
                {U"alize", U"al"},
                {U"iciti", U"ic"},
                {U"ical", U"ic"},
                {U"ful", U""},
                {U"ness", U""}},
               0);
}

Word step_4(const Word& word) {
  // No suffix before -ion in Porter's list ends in it: which comes first is no matter.
  if (word.ends_with(U"ion")) {
    const View stem = without(word, U"ion");
    return measure(stem) > 1 && (stem.back() == U's' || stem.back() == U't') ? Word(stem) : word;
  }
  return apply(word,
               {{U"al", U""},
                {U"ance", U""},
                {U"ence", U""},
                {U"er", U""},
                {U"ic", U""},
                {U"able", U""},
                {U"ible", U""},
                {U"ant", U""},
                {U"ement", U""},
                {U"ment", U""},
                {U"ent", U""},
                {U"ou", U""},
                {U"ism", U""},
                {U"ate", U""},
                {U"iti", U""},
                {U"ous", U""},
                {U"ive", U""},
                {U"ize", U""}},
               1);
}

/// A last e, and the second of two l.
Word step_5(Word word) {
  if (word.ends_with(U"e")) {
    const View stem = without(word, U"e");
    if (measure(stem) > 1 || (measure(stem) == 1 && !ends_in_cvc(stem))) word.pop_back();
  }
  if (word.ends_with(U"ll") && measure(without(word, U"l")) > 1) word.pop_back();
  return word;
}

const std::unordered_map<std::string_view, std::string_view>& irregular_words() {
  static const std::unordered_map<std::string_view, std::string_view> words = {
      {"sky", "sky"},        {"skies", "sky"},       {"dying", "die"},        {"lying", "lie"},
      {"tying", "tie"},      {"news", "news"},       {"innings", "inning"},   {"inning", "inning"},
      {"outings", "outing"}, {"outing", "outing"},   {"cannings", "canning"}, {"canning", "canning"},
      {"howe", "howe"},      {"proceed", "proceed"}, {"exceed", "exceed"},    {"succeed", "succeed"},
  };
  return words;
}

}  // namespace

std::string porter_stem(std::string_view word) {
  if (const auto found = irregular_words().find(word); found != irregular_words().end()) {
    return std::string(found->second);
  }
  const Word letters = unicode::decode(word);
  if (letters.size() <= 2) return std::string(word);
  std::string stem;
  for (const char32_t letter : step_5(step_4(step_3(step_2(step_1c(step_1b(step_1a(letters)))))))) {
    unicode::append(stem, letter);
  }
  return stem;
}

}  // namespace synthesizer
