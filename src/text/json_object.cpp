#include "text/json_object.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/nearest.h"

namespace synthesizer {
namespace {

using nlohmann::json;

std::shared_ptr<const json> parse(std::string_view line, const std::string& where) {
  try {
    return std::make_shared<const json>(json::parse(line));
  } catch (const json::parse_error& error) {
    invalid(fmt::format("{}: not JSON from byte {} on: one object a line is needed", where, error.byte));
  } catch (const json::out_of_range&) {
    invalid(fmt::format("{}: it has a number that is too large", where));
  }
}

std::string kind(const json& value) {
  return value.is_null()
             ? "null"
             : fmt::format("{} {}", value.is_object() || value.is_array() ? "an" : "a", value.type_name());
}

}  // namespace

JsonObject::JsonObject(std::string_view line, std::string where) : JsonObject(parse(line, where), where) {}

JsonObject::JsonObject(std::shared_ptr<const json> value, std::string where)
    : value_(std::move(value)), where_(std::move(where)) {
  if (!value_->is_object())
    invalid(fmt::format("{}: {}, where an object is needed", where_, value_->type_name()));
}

bool JsonObject::has(const std::string& key) const {
  return value_->contains(key);
}

const json& JsonObject::at(const std::string& key) const {
  const auto found = value_->find(key);
  if (found != value_->end()) return *found;
  std::vector<std::string> there;
  for (const auto& item : value_->items()) there.push_back(item.key());
  invalid(fmt::format("{}: there is no key '{}' among {}{}", where_, key, fmt::join(there, ", "),
                      did_you_mean(key, there)));
}

void JsonObject::wrong(const std::string& key, const char* needed) const {
  invalid(fmt::format("{}: the value of '{}' is {}: {} is needed", where_, key, kind(at(key)), needed));
}

std::string JsonObject::text(const std::string& key) const {
  const json& value = at(key);
  if (value.is_string()) return value.get_ref<const std::string&>();
  if (!value.is_number() && !value.is_boolean()) wrong(key, "a string or a number");
  return value.dump();
}

std::vector<std::string> JsonObject::texts(const std::string& key) const {
  const json& value = at(key);
  if (!value.is_array()) wrong(key, "an array of strings");
  std::vector<std::string> members;
  for (const json& member : value) {
    if (!member.is_string()) wrong(key, "an array of strings");
    members.push_back(member.get<std::string>());
  }
  return members;
}

int64_t JsonObject::integer(const std::string& key) const {
  const json& value = at(key);
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (!value.is_number_integer()) wrong(key, "a whole number");
  if (value.is_number_unsigned() && value.get<uint64_t>() > kMost) wrong(key, "a number below 2^63");
  return value.get<int64_t>();
}

JsonObject JsonObject::object(const std::string& key) const {
  const json& value = at(key);
  if (!value.is_object()) wrong(key, "an object");
  return {std::shared_ptr<const json>(value_, &value), fmt::format("{}, {}", where_, key)};
}

std::vector<JsonObject> JsonObject::objects(const std::string& key) const {
  const json& value = at(key);
  if (!value.is_array()) wrong(key, "an array");
  std::vector<JsonObject> members;
  members.reserve(value.size());
  for (const json& member : value) {
    members.push_back({std::shared_ptr<const json>(value_, &member),
                       fmt::format("{}, {}[{}]", where_, key, members.size())});
  }
  return members;
}

}  // namespace synthesizer
