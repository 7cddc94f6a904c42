#include "run/toml_text.h"

#include <fmt/format.h>

#include "base/error.h"
#include "run/toml_keys.h"

namespace synthesizer {

toml::table parse_toml(const std::string& name, std::string_view text) {
  check_toml_keys(name, text);
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& mistake) {
    invalid(fmt::format("{}:{}: {}", name, mistake.source().begin.line, mistake.description()));
  }
}

}  // namespace synthesizer
