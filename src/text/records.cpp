#include "text/records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

std::vector<size_t> find_columns(std::string_view header, const std::vector<std::string>& wanted,
                                 const std::string& where) {
  if (header.starts_with("\xEF\xBB\xBF")) header.remove_prefix(3);  // a byte order mark is no part of a name
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
