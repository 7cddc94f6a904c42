#pragma once

#include <cstddef>
#include <string>

namespace synthesizer::serve {

/// What messages call the texts of a request: "the text", or of a list "text 3" (from 0).
struct TextNames {
  std::string noun;
  bool list;

  std::string of(size_t number) const { return list ? noun + " " + std::to_string(number) : "the " + noun; }
  /// A message about one of them, which it names where there are several.
  std::string message(size_t number, const std::string& about_it) const {
    return list ? of(number) + ": " + about_it : about_it;
  }
};

}  // namespace synthesizer::serve
