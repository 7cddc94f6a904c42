#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace synthesizer {

/// One line of a JSON lines file, or an object inside it, read key by key. What is not there or is of another
/// kind is InvalidInput, beginning with the place: "val.jsonl:3, passage: there is no key 'text' among …".
class JsonObject {
 public:
  JsonObject(std::string_view line, std::string where);

  const std::string& where() const { return where_; }
  bool has(const std::string& key) const;

  std::string text(const std::string& key) const;                ///< of a string, a number, true or false
  std::vector<std::string> texts(const std::string& key) const;  ///< of an array of strings
  int64_t integer(const std::string& key) const;
  JsonObject object(const std::string& key) const;
  std::vector<JsonObject> objects(const std::string& key) const;  ///< the members of an array

 private:
  JsonObject(std::shared_ptr<const nlohmann::json> value, std::string where);
  const nlohmann::json& at(const std::string& key) const;
  [[noreturn]] void wrong(const std::string& key, const char* needed) const;

  std::shared_ptr<const nlohmann::json> value_;  // an object; those inside keep the whole line alive
  std::string where_;
};

}  // namespace synthesizer
