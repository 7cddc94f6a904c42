#include "metric/wordnet.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/error.h"
#include "text/lines.h"
#include "text/utf8.h"

namespace synthesizer {
namespace {

struct SuffixRule {
  std::string_view part, suffix, replacement;
};
constexpr SuffixRule kSuffixRules[] = {
    {"noun", "s", ""},    {"noun", "ses", "s"},   {"noun", "ves", "f"},   {"noun", "xes", "x"},
    {"noun", "zes", "z"}, {"noun", "ches", "ch"}, {"noun", "shes", "sh"}, {"noun", "men", "man"},
    {"noun", "ies", "y"}, {"verb", "s", ""},      {"verb", "ies", "y"},   {"verb", "es", "e"},
    {"verb", "es", ""},   {"verb", "ed", "e"},    {"verb", "ed", ""},     {"verb", "ing", "e"},
    {"verb", "ing", ""},  {"adj", "er", ""},      {"adj", "est", ""},     {"adj", "er", "e"},
    {"adj", "est", "e"},
};

std::string existing(const std::string& folder, const std::string& name) {
  std::string path = folder + "/" + name;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    invalid(
        fmt::format("{} is missing: METEOR takes synonyms from WordNet; install Debian's wordnet-base "
                    "(./run setup does), or name the folder of its files with --wordnet",
                    path));
  }
  return path;
}

std::string_view text_of(const MappedFile& file) {
  return {static_cast<const char*>(file.data()), file.bytes()};
}

/// A number; base 10 or 16. What is none is larger than any.
size_t number(std::string_view text, int base = 10) {
  size_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && rest == text.data() + text.size() ? value : std::string_view::npos;
}

}  // namespace

WordNet::PartOfSpeech::PartOfSpeech(const std::string& folder, const std::string& part)
    : name(part),
      data_path(existing(folder, "data." + part)),
      index_file(existing(folder, "index." + part)),
      data_file(data_path) {
  std::string_view rest = text_of(index_file);
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const size_t space = line.find(' ');
    if (space == 0 || space == std::string_view::npos) continue;  // the licence stands above the words
    index.emplace(line.substr(0, space), line.substr(space + 1));
  }
  LineReader reader(existing(folder, part + ".exc"));
  for (std::string line; reader.next(line);) {
    const auto words = split_words(line);
    if (!words.empty()) exceptions[std::string(words[0])].assign(words.begin() + 1, words.end());
  }
}

/// Those that WordNet has.
std::vector<std::string> WordNet::PartOfSpeech::base_forms(const std::string& word) const {
  std::vector<std::string> forms = {word};
  if (const auto found = exceptions.find(word); found != exceptions.end()) {
    forms.insert(forms.end(), found->second.begin(), found->second.end());
  } else {
    for (const SuffixRule& rule : kSuffixRules) {
      if (rule.part != name || !word.ends_with(rule.suffix)) continue;
      forms.push_back(word.substr(0, word.size() - rule.suffix.size()).append(rule.replacement));
    }
  }
  std::erase_if(forms, [&](const std::string& form) { return !index.contains(form); });
  return forms;
}

/// Of one meaning, whose line of the data file starts at that offset:
/// offset, file, part of speech, number of words (hexadecimal), then each word and a digit.
void WordNet::PartOfSpeech::add_words(std::string_view offset, std::vector<std::string_view>& words) const {
  const std::string_view all = text_of(data_file);
  const size_t begin = std::min(number(offset), all.size());
  const std::string_view line = all.substr(begin, all.find_first_of("\n|", begin) - begin);
  const auto fields = split_words(line);
  const size_t count = fields.size() > 3 ? number(fields[3], 16) : std::string_view::npos;
  if (count > fields.size() || 4 + 2 * count > fields.size() || fields[0] != offset) {
    invalid(fmt::format("{} is damaged: there is no meaning at byte {}; install wordnet-base again",
                        data_path, offset));
  }
  for (size_t i = 0; i < count; ++i) {
    std::string_view word = fields[4 + 2 * i];
    word = word.substr(0, word.find('('));  // adjectives may have a mark, as in "alone(p)"
    if (word.find('_') == std::string_view::npos) words.push_back(word);
  }
}

WordNet::WordNet(const std::string& folder) {
  for (const char* part : {"noun", "verb", "adj", "adv"}) parts_.emplace_back(folder, part);
}

std::vector<std::string_view> WordNet::synonyms(const std::string& word) const {
  std::vector<std::string_view> words;
  for (const PartOfSpeech& part : parts_) {
    for (const std::string& form : part.base_forms(word)) {
      // part of speech, number of meanings, … and at the end their offsets
      const auto fields = split_words(part.index.at(form));
      const size_t meanings = fields.size() > 1 ? number(fields[1]) : 0;
      for (size_t i = fields.size() - std::min(meanings, fields.size()); i < fields.size(); ++i) {
        part.add_words(fields[i], words);
      }
    }
  }
  return words;
}

}  // namespace synthesizer
