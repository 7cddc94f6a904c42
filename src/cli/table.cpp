#include <fmt/format.h>

#include <algorithm>

#include "cli/command.h"

namespace synthesizer::cli {
namespace {

/// Characters, not bytes: formulas have superscripts.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

void Table::print(size_t left) const {
  std::vector<size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  for (size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (size_t c = 0; c < rows_[r].size(); ++c) {
      const std::string pad(widths[c] - width_of(rows_[r][c]), ' ');
      line += (c > 0 ? "  " : "") + (c < left ? rows_[r][c] + pad : pad + rows_[r][c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
    if (r > 0) continue;
    size_t total = 2 * (widths.size() - 1);
    for (size_t width : widths) total += width;
    for (size_t i = 0; i < total; ++i) fmt::print("─");
    fmt::print("\n");
  }
}

}  // namespace synthesizer::cli
