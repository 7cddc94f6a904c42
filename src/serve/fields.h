#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace synthesizer::serve {

/// One text or a list of texts, as a request gave it.
struct Texts {
  std::vector<std::string> texts;
  bool list = false;
};

/// The fields of a request's JSON object, read strictly. Each function throws ApiError (400) where the field
/// is of another type or out of its range; a field that is absent or null is none. finish() refuses fields
/// that nobody asked for, with the nearest known name.
class Fields {
 public:
  /// Parses the body. At most 16 levels of nesting; a key may occur once.
  explicit Fields(const std::string& body);
  /// From a form: every value is a string.
  explicit Fields(nlohmann::json object) : object_(std::move(object)) {}

  std::optional<std::string> text(const std::string& name);
  std::optional<Texts> texts(const std::string& name);
  std::optional<int64_t> integer(const std::string& name, int64_t least, int64_t most);
  std::optional<double> real(const std::string& name, double least, double most);
  std::optional<bool> flag(const std::string& name);
  /// As it is, for fields with a form of their own.
  nlohmann::json raw(const std::string& name);

  std::string required_text(const std::string& name);
  Texts required_texts(const std::string& name);

  void finish() const;

 private:
  const nlohmann::json* find(const std::string& name);

  nlohmann::json object_;
  std::vector<std::string> known_;
};

}  // namespace synthesizer::serve
