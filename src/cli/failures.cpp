#include "cli/failures.h"

#include <fmt/format.h>

#include <cstdint>
#include <new>

#include "base/number_text.h"

namespace synthesizer::cli {
namespace {

constexpr const char* kLessMemory = "use a smaller model or smaller batches";

/// The number behind "you tried to allocate " in LibTorch's message; 0 where there is none.
uint64_t bytes_asked_for(const std::string& text) {
  constexpr std::string_view kBefore = "tried to allocate ";
  const size_t found = text.find(kBefore);
  if (found == std::string::npos) return 0;
  const size_t begin = found + kBefore.size();
  uint64_t bytes = 0;
  const size_t end = text.find_first_not_of("0123456789", begin);
  return parse_number(std::string_view(text).substr(begin, end - begin), bytes) ? bytes : 0;
}

}  // namespace

std::string explain_failure(const std::exception& failure) {
  const std::string text = failure.what();
  if (text.find("can't allocate memory") != std::string::npos) {
    const uint64_t bytes = bytes_asked_for(text);
    if (bytes == 0) return fmt::format("out of memory: {}", kLessMemory);
    return fmt::format("out of memory: could not allocate {} more; {}", byte_text(static_cast<double>(bytes)),
                       kLessMemory);
  }
  if (dynamic_cast<const std::bad_alloc*>(&failure)) return fmt::format("out of memory: {}", kLessMemory);
  return text.substr(0, text.find('\n'));
}

}  // namespace synthesizer::cli
