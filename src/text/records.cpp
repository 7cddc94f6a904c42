#include "text/records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/error.h"
#include "base/nearest.h"
#include "text/json_object.h"

namespace synthesizer {
namespace {

/// What columns of the tasks' tables are called, in small letters and with "_" for blanks.
bool is_column_name(const std::string& word) {
  static const std::set<std::string, std::less<>> names = {
      "abstract", "answer", "article", "body", "category", "class", "comment", "completion", "content",
      "context", "description", "dialog", "dialogue", "document", "emotion", "gold", "gold_label", "headline",
      "highlights", "history", "hypothesis", "id", "idx", "index", "input", "input_text", "instruction",
      "intent", "label", "labels", "language", "message", "original", "output", "output_text", "paragraph",
      "passage", "persona", "polarity", "post", "premise", "prompt", "query", "question", "question1",
      "question2", "rating", "reference", "reply", "response", "review", "score", "sentence", "sentence1",
      "sentence2", "sentiment", "source", "source_text", "src", "stars", "story", "summary", "tag", "target",
      "target_text", "text", "text1", "text2", "text_a", "text_b", "tgt", "title", "topic", "translation",
      "turn", "tweet", "utterance",
      // languages, by their English names and by ISO 639-1
      "arabic", "bulgarian", "chinese", "croatian", "czech", "danish", "dutch", "english", "estonian",
      "finnish", "french", "german", "greek", "hebrew", "hindi", "hungarian", "indonesian", "italian",
      "japanese", "korean", "latvian", "lithuanian", "norwegian", "persian", "polish", "portuguese",
      "romanian", "russian", "serbian", "slovak", "slovenian", "spanish", "swedish", "thai", "turkish",
      "ukrainian", "vietnamese", "ar", "bg", "bn", "ca", "cs", "cy", "da", "de", "el", "en", "es", "et", "eu",
      "fa", "fi", "fr", "ga", "gl", "gu", "he", "hi", "hr", "hu", "hy", "is", "it", "ja", "ka", "kk", "km",
      "ko", "lt", "lv", "mk", "ml", "mr", "mt", "nb", "ne", "nl", "nn", "no", "pl", "ps", "pt", "ro", "ru",
      "sk", "sl", "sq", "sr", "sv", "sw", "ta", "te", "th", "tr", "uk", "ur", "uz", "vi", "xh", "yo", "zh",
      "zu"};
  return names.contains(word);
}

/// A field as is_column_name() has it: without quotes and blanks around it.
std::string plain_name(std::string_view field) {
  constexpr std::string_view kAround = " \"'";
  const size_t begin = field.find_first_not_of(kAround);
  if (begin == std::string_view::npos) return "";
  std::string word(field.substr(begin, field.find_last_not_of(kAround) - begin + 1));
  for (char& letter : word)
    letter = letter == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return word;
}

}  // namespace

std::vector<std::string_view> split_tabs(std::string_view row) {
  std::vector<std::string_view> fields;
  for (size_t begin = 0; begin <= row.size();) {
    const size_t end = std::min(row.find('\t', begin), row.size());
    fields.push_back(row.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

bool looks_like_header(const std::vector<std::string_view>& row) {
  if (row.size() < 2) return false;
  std::set<std::string> names;
  for (const std::string_view field : row) names.insert(plain_name(field));
  return names.size() == row.size() && std::all_of(names.begin(), names.end(), is_column_name);
}

std::vector<size_t> find_columns(std::string_view header, const std::vector<std::string>& wanted,
                                 const std::string& where) {
  const auto parts = split_tabs(header);
  const std::vector<std::string> names(parts.begin(), parts.end());
  std::vector<size_t> places;
  for (const auto& name : wanted) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      invalid(fmt::format("{}: there is no column '{}' among {}{}", where, name, fmt::join(names, ", "),
                          did_you_mean(name, names)));
    }
    places.push_back(static_cast<size_t>(found - names.begin()));
  }
  return places;
}

std::vector<std::string> read_json_record(std::string_view text, const std::vector<std::string>& keys,
                                          const std::string& where) {
  const JsonObject object(text, where);
  std::vector<std::string> values;
  for (const auto& key : keys) values.push_back(object.text(key));
  return values;
}

}  // namespace synthesizer
