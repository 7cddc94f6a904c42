#include "train/progress_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace synthesizer {
namespace {

struct Character {
  std::string_view bytes;
  int columns = 1;
};

/// Scripts and pictures that fill two columns; the blocks most often met, not Unicode's whole table.
bool wide(char32_t code) {
  static constexpr std::pair<char32_t, char32_t> blocks[] = {
      {0x1100, 0x115F}, {0x2E80, 0xA4CF}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
      {0xFE30, 0xFE6F}, {0xFF00, 0xFF60}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};
  return std::any_of(std::begin(blocks), std::end(blocks),
                     [=](const auto& block) { return code >= block.first && code <= block.second; });
}

/// Takes the next character off the text, "?" for a byte that begins none.
Character next(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t length = lead < 0x80   ? 1
                        : lead < 0xC2 ? 0
                        : lead < 0xE0 ? 2
                        : lead < 0xF0 ? 3
                        : lead < 0xF5 ? 4
                                      : 0;
  char32_t code = length == 1 ? lead : lead & (0xFFu >> (length + 1));
  bool whole = length > 0 && length <= text.size();
  for (size_t i = 1; whole && i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    whole = (byte & 0xC0) == 0x80;
    code = (code << 6) | (byte & 0x3Fu);
  }
  Character character{whole ? text.substr(0, length) : "?"};
  text.remove_prefix(whole ? length : 1);
  if (!whole) return character;
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return {"", 0};
  const bool combining =
      (code >= 0x300 && code < 0x370) || code == 0x200D || (code >= 0xFE00 && code <= 0xFE0F);
  character.columns = combining ? 0 : wide(code) ? 2 : 1;
  return character;
}

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

int columns(std::string_view text) {
  int sum = 0;
  while (!text.empty()) sum += next(text).columns;
  return sum;
}

std::string fit(std::string_view text, int limit) {
  const bool cut = columns(text) > limit;
  int left = cut ? limit - 1 : limit;
  std::string kept;
  while (!text.empty()) {
    const auto character = next(text);
    left -= character.columns;
    if (left < 0) break;
    kept += character.bytes;
  }
  return cut && limit > 0 ? kept + "…" : kept;
}

Bar bar(double fraction, int columns) {
  const auto halves = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * 2 * columns);
  const bool half = halves % 2 == 1;
  return {repeated("━", halves / 2) + (half ? "╸" : ""), repeated("─", columns - halves / 2 - half)};
}

}  // namespace synthesizer
