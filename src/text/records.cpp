#include "text/records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/nearest.h"

namespace synthesizer {
namespace {

using nlohmann::json;

[[noreturn]] void no_such_name(const std::string& where, const char* what, const std::string& wanted,
                               const std::vector<std::string>& there) {
  invalid(fmt::format("{}: there is no {} '{}' among {}{}", where, what, wanted, fmt::join(there, ", "),
                      did_you_mean(wanted, there)));
}

json parse(std::string_view text, const std::string& where) {
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    invalid(fmt::format("{}: not JSON from byte {} on: one object a line is needed", where, error.byte));
  }
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

std::vector<size_t> find_columns(std::string_view header, const std::vector<std::string>& wanted,
                                 const std::string& where) {
  if (header.starts_with("\xEF\xBB\xBF")) header.remove_prefix(3);  // a byte order mark is no part of a name
  const auto parts = split_tabs(header);
  const std::vector<std::string> names(parts.begin(), parts.end());
  std::vector<size_t> places;
  for (const auto& name : wanted) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) no_such_name(where, "column", name, names);
    places.push_back(static_cast<size_t>(found - names.begin()));
  }
  return places;
}

std::vector<std::string> read_json_record(std::string_view text, const std::vector<std::string>& keys,
                                          const std::string& where) {
  json object = parse(text, where);
  if (!object.is_object())
    invalid(fmt::format("{}: {}, where an object is needed", where, object.type_name()));
  std::vector<std::string> values;
  for (const auto& key : keys) {
    const auto found = object.find(key);
    if (found == object.end()) {
      std::vector<std::string> there;
      for (const auto& item : object.items()) there.push_back(item.key());
      no_such_name(where, "key", key, there);
    }
    if (found->is_string()) {
      values.push_back(std::move(found->get_ref<std::string&>()));
    } else if (found->is_number() || found->is_boolean()) {
      values.push_back(found->dump());
    } else {
      invalid(fmt::format("{}: the value of '{}' is {}: a string or a number is needed", where, key,
                          found->is_null() ? "null" : fmt::format("an {}", found->type_name())));
    }
  }
  return values;
}

}  // namespace synthesizer
