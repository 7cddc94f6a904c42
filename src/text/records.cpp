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
  static const std::set<std::string, std::less<>> names = {
      "answer",  "article",  "category", "class", "description", "document",  "history",   "hypothesis",
      "id",      "idx",      "index",    "input", "label",       "labels",    "output",    "persona",
      "premise", "question", "response", "score", "sentence",    "sentence1", "sentence2", "source",
      "src",     "summary",  "target",   "text",  "tgt",         "title"};
  if (row.size() < 2) return false;
  return std::all_of(row.begin(), row.end(), [](std::string_view field) {
    std::string word(field);
    for (char& letter : word) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return names.contains(word);
  });
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
