#include "serve/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/nearest.h"
#include "serve/error.h"

namespace synthesizer::serve {
namespace {

using nlohmann::json;

constexpr int kDeepest = 16;

[[noreturn]] void wrong(const std::string& name, const std::string& what) {
  throw ApiError(400, fmt::format("'{}' {}", name, what), name);
}

std::string type_of(const json& value) {
  if (value.is_null()) return "null";
  if (value.is_number_integer()) return "a whole number";
  if (value.is_number()) return "a number";
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_boolean()) return "true or false";
  return "a string";
}

json parse(const std::string& body) {
  if (body.find_first_not_of(" \t\r\n") == std::string::npos)
    throw ApiError(400, "the body is empty: send a JSON object");
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  auto check = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > kDeepest)
      throw ApiError(400, fmt::format("the body is nested more than {} levels deep: flatten it", kDeepest));
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      wrong(parsed.get<std::string>(), "occurs twice: give it once");
    return true;
  };
  try {
    return json::parse(body, check);
  } catch (const json::exception& error) {
    std::string what = error.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: …"
    what = what.substr(std::min(what.size(), what.find("] ") + 2));
    throw ApiError(400, fmt::format("the body is not valid JSON: {}", what));
  }
}

}  // namespace

Fields::Fields(const std::string& body) : object_(parse(body)) {
  if (!object_.is_object())
    throw ApiError(400, fmt::format("the body is {}: send a JSON object", type_of(object_)));
}

const json* Fields::find(const std::string& name) {
  known_.push_back(name);
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> Fields::text(const std::string& name) {
  const json* value = find(name);
  if (!value) return {};
  if (!value->is_string()) wrong(name, fmt::format("is {}: it must be a string", type_of(*value)));
  return value->get<std::string>();
}

std::optional<Texts> Fields::texts(const std::string& name) {
  const json* value = find(name);
  if (!value) return {};
  if (value->is_string()) return Texts{{value->get<std::string>()}, false};
  constexpr const char* wanted = "it must be a string or a list of strings";
  if (!value->is_array()) wrong(name, fmt::format("is {}: {}", type_of(*value), wanted));
  for (size_t n = 0; n < value->size(); ++n) {
    if (!(*value)[n].is_string())
      wrong(name, fmt::format("is a list whose item {} is {}: {}", n, type_of((*value)[n]), wanted));
  }
  return Texts{value->get<std::vector<std::string>>(), true};
}

std::optional<int64_t> Fields::integer(const std::string& name, int64_t least, int64_t most) {
  const json* value = find(name);
  if (!value) return {};
  if (!value->is_number_integer())
    wrong(name, fmt::format("is {}: it must be a whole number", type_of(*value)));
  const bool huge = value->is_number_unsigned() && value->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
  const int64_t number = huge ? INT64_MAX : value->get<int64_t>();
  if (huge || number < least || number > most)
    wrong(name, fmt::format("is {}: it must be from {} to {}", value->dump(), least, most));
  return number;
}

std::optional<double> Fields::real(const std::string& name, double least, double most) {
  const json* value = find(name);
  if (!value) return {};
  if (!value->is_number()) wrong(name, fmt::format("is {}: it must be a number", type_of(*value)));
  const double number = value->get<double>();
  if (!(number >= least && number <= most))
    wrong(name, fmt::format("is {}: it must be from {} to {}", number, least, most));
  return number;
}

std::optional<bool> Fields::flag(const std::string& name) {
  const json* value = find(name);
  if (!value) return {};
  if (!value->is_boolean()) wrong(name, fmt::format("is {}: it must be true or false", type_of(*value)));
  return value->get<bool>();
}

json Fields::raw(const std::string& name) {
  const json* value = find(name);
  return value ? *value : json();
}

std::string Fields::required_text(const std::string& name) {
  auto value = text(name);
  if (!value) wrong(name, "is missing: give a string");
  return *value;
}

Texts Fields::required_texts(const std::string& name) {
  auto value = texts(name);
  if (!value) wrong(name, "is missing: give a string or a list of strings");
  return *value;
}

void Fields::finish() const {
  for (const auto& item : object_.items()) {
    if (std::find(known_.begin(), known_.end(), item.key()) != known_.end()) continue;
    std::string key = item.key();
    if (key.size() > 64) key = key.substr(0, 61) + "...";
    std::string advice = did_you_mean(key, known_);
    if (advice.empty()) advice = fmt::format(": the fields are {}", fmt::join(known_, ", "));
    wrong(key, fmt::format("is not a field of this request{}", advice));
  }
}

}  // namespace synthesizer::serve
