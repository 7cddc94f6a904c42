#include "train/checksum.h"

#include <fmt/format.h>

#include <stdexcept>

#include "base/error.h"
#include "train/crc32c.h"

namespace synthesizer {
namespace {

constexpr size_t kDigits = 8;

/// Where the digits stand in a header as this program writes it; npos where there are none. In names and
/// texts quotes are escaped, so this is found nowhere else.
size_t digits_place(std::string_view header) {
  const std::string before = fmt::format("\"{}\":\"", kChecksumKey);
  const size_t found = header.find(before);
  if (found == std::string_view::npos) return found;
  const size_t place = found + before.size();
  return header.substr(place).find('"') == kDigits ? place : std::string_view::npos;
}

}  // namespace

void set_checksum(std::string& header, uint32_t sum) {
  const size_t place = digits_place(header);
  if (place == std::string::npos) throw std::logic_error("the header has no place for its checksum");
  header.replace(place, kDigits, fmt::format("{:08x}", sum));
}

void check_checksum(const std::string& path, std::string_view file, uint64_t header_bytes) {
  const size_t place = digits_place(file.substr(0, header_bytes));
  if (place == std::string_view::npos) return;
  const std::string_view digits = file.substr(place, kDigits);
  uint32_t sum = crc32c(file.substr(0, place));
  sum = crc32c(kNoChecksum, sum);
  sum = crc32c(file.substr(place + kDigits), sum);
  if (digits == fmt::format("{:08x}", sum)) return;  // as text: a capital digit was not written by us
  invalid(fmt::format(
      "{} is damaged: its bytes are not those that were saved (checksum {:08x}, saved with {}): take a copy "
      "of the file, or another checkpoint; if you changed it on purpose, leave \"{}\" out of its metadata",
      path, sum, digits, kChecksumKey));
}

}  // namespace synthesizer
