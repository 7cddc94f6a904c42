#include "base/base64.h"

#include <cstdint>

namespace synthesizer {

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  auto byte = [&](size_t n) { return static_cast<uint32_t>(static_cast<unsigned char>(bytes[n])); };
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = bytes.size() - i;
    const uint32_t three =
        byte(i) << 16U | (left > 1 ? byte(i + 1) << 8U : 0U) | (left > 2 ? byte(i + 2) : 0U);
    text += kDigits[three >> 18U];
    text += kDigits[three >> 12U & 63U];
    text += left > 1 ? kDigits[three >> 6U & 63U] : '=';
    text += left > 2 ? kDigits[three & 63U] : '=';
  }
  return text;
}

}  // namespace synthesizer
