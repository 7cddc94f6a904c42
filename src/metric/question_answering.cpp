#include "metric/question_answering.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "text/unicode_text.h"

namespace synthesizer {
namespace {

bool is_ascii_punctuation(char c) {
  return std::string_view("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~").find(c) != std::string_view::npos;
}

/// What Python's \w matches of what is left when ASCII punctuation, and with it the underscore, is gone.
/// Marks, format characters such as the zero-width space, and private use end a word.
bool is_word_character(char32_t c) {
  const auto category = unicode::category(c);
  return category == unicode::Category::letter || category == unicode::Category::number;
}

std::string without_articles(std::string_view text) {
  const std::u32string characters = unicode::decode(text);
  std::string result;
  for (size_t begin = 0; begin < characters.size();) {
    size_t end = begin;
    while (end < characters.size() && is_word_character(characters[end])) ++end;
    const auto word = std::u32string_view(characters).substr(begin, end - begin);
    const bool article = word == U"a" || word == U"an" || word == U"the";
    for (const char32_t c : article ? U" " : word) unicode::append(result, c);
    if (end < characters.size()) unicode::append(result, characters[end++]);
    begin = end;
  }
  return result;
}

double word_f1(std::string_view prediction, std::string_view answer) {
  std::unordered_map<std::string_view, int64_t> left;
  const auto ours = unicode::split(prediction), theirs = unicode::split(answer);
  for (const std::string_view word : theirs) ++left[word];
  double common = 0;
  for (const std::string_view word : ours) common += left[word]-- > 0;
  return common == 0 ? 0 : 200 * common / static_cast<double>(ours.size() + theirs.size());
}

template <class Score>
double best_of(const Segments& answers, const Score& score) {
  double best = 0;
  for (const std::string& answer : answers) best = std::max(best, score(normalized_answer(answer)));
  return best;
}

}  // namespace

std::string normalized_answer(std::string_view text) {
  std::string small = unicode::lowercase(text);
  std::erase_if(small, is_ascii_punctuation);
  const std::string words = without_articles(small);
  return fmt::format("{}", fmt::join(unicode::split(words), " "));
}

double exact_match(std::string_view prediction, const Segments& answers) {
  const std::string ours = normalized_answer(prediction);
  return best_of(answers, [&](const std::string& answer) { return answer == ours ? 100.0 : 0.0; });
}

double f1(std::string_view prediction, const Segments& answers) {
  const std::string ours = normalized_answer(prediction);
  return best_of(answers, [&](const std::string& answer) { return word_f1(ours, answer); });
}

double multirc_f1a(const std::vector<MultiRcOption>& options) {
  double predicted = 0, gold = 0, both = 0;
  for (const MultiRcOption& option : options) {
    predicted += option.predicted;
    gold += option.gold;
    both += option.predicted && option.gold;
  }
  return both == 0 ? 0 : 200 * both / (predicted + gold);
}

double multirc_exact_match(const std::vector<MultiRcOption>& options) {
  if (options.empty()) invalid("there is nothing to score: no options of questions were given");
  std::unordered_map<std::string_view, bool> right;
  for (const MultiRcOption& option : options) {
    bool& all = right.try_emplace(option.question, true).first->second;
    all = all && option.predicted == option.gold;
  }
  const auto count = std::count_if(right.begin(), right.end(), [](const auto& one) { return one.second; });
  return 100 * static_cast<double>(count) / static_cast<double>(right.size());
}

}  // namespace synthesizer
