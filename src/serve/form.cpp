#include "serve/form.h"

#include <nlohmann/json.hpp>

#include "serve/error.h"
#include "text/utf8.h"

namespace synthesizer::serve {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decoded(std::string_view text) {
  std::string plain;
  for (size_t n = 0; n < text.size(); ++n) {
    if (text[n] == '+') {
      plain += ' ';
    } else if (text[n] == '%' && n + 2 < text.size() && hex_digit(text[n + 1]) >= 0 &&
               hex_digit(text[n + 2]) >= 0) {
      plain += static_cast<char>(hex_digit(text[n + 1]) * 16 + hex_digit(text[n + 2]));
      n += 2;
    } else {
      plain += text[n];
    }
  }
  if (first_invalid_byte(plain) != std::string::npos) throw ApiError(400, "the form is not UTF-8");
  return plain;
}

}  // namespace

nlohmann::json form_fields(const std::string& body) {
  nlohmann::json object = nlohmann::json::object();
  for (size_t begin = 0; begin < body.size();) {
    const size_t end = std::min(body.find('&', begin), body.size());
    const std::string_view pair = std::string_view(body).substr(begin, end - begin);
    const size_t equal = std::min(pair.find('='), pair.size());
    const std::string key = decoded(pair.substr(0, equal));
    const std::string value = equal < pair.size() ? decoded(pair.substr(equal + 1)) : "";
    if (!key.empty()) {
      if (!object.contains(key)) {
        object[key] = value;
      } else {
        if (!object[key].is_array()) object[key] = nlohmann::json::array({object[key]});
        object[key].push_back(value);
      }
    }
    begin = end + 1;
  }
  return object;
}

}  // namespace synthesizer::serve
