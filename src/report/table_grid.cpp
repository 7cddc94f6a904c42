#include "report/table_grid.h"

#include <algorithm>

namespace synthesizer {
namespace {

/// Published figures, each in a column of its own where there are any.
constexpr std::pair<const char*, std::optional<double> TableCell::*> kPublished[] = {
    {"paper", &TableCell::paper}, {"2021", &TableCell::narang}};

/// "27.67 ± 0.81*": the mark is missing where there is none, so that figures stand below each other.
std::string figure(const Table& table, size_t row, size_t place, bool marks) {
  const TableColumn& column = table.columns()[place];
  const TableCell& cell = table.rows()[row][place];
  if (!cell.value) return cell.text.empty() ? "–" : cell.text;
  std::string text = shown(column, *cell.value);
  if (cell.low && cell.high) text += " ± " + shown(column, (*cell.high - *cell.low) / 2);
  if (cell.spread) text += " (" + shown(column, *cell.spread) + ")";
  if (marks) text += table.significant(row, place) ? "*" : " ";
  return text;
}

bool has_marks(const Table& table, size_t column) {
  for (size_t row = 0; row < table.rows().size(); ++row) {
    if (table.significant(row, column)) return true;
  }
  return false;
}

/// Characters, not bytes: formulas have superscripts.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

TableGrid grid_of(const Table& table) {
  TableGrid grid;
  grid.rows.resize(table.rows().size() + 1);
  for (size_t c = 0; c < table.columns().size(); ++c) {
    const TableColumn& column = table.columns()[c];
    const bool marks = has_marks(table, c);
    grid.left.push_back(column.words);
    grid.rows[0].push_back({column.heading});
    for (size_t r = 0; r < table.rows().size(); ++r)
      grid.rows[r + 1].push_back({figure(table, r, c, marks), table.best(r, c)});
    for (const auto& [heading, part] : kPublished) {
      if (!table.has(c, part)) continue;
      grid.left.push_back(false);
      grid.rows[0].push_back({heading});
      for (size_t r = 0; r < table.rows().size(); ++r) {
        const auto& published = table.rows()[r][c].*part;
        grid.rows[r + 1].push_back({published ? shown(column, *published) : "–"});
      }
    }
  }
  return grid;
}

std::string lines_of(const TableGrid& grid, bool bold) {
  std::vector<size_t> widths(grid.left.size());
  for (const auto& row : grid.rows) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c].text));
  }
  std::string lines;
  for (size_t r = 0; r < grid.rows.size(); ++r) {
    std::string line;
    for (size_t c = 0; c < grid.rows[r].size(); ++c) {
      const auto& [text, best] = grid.rows[r][c];
      const std::string pad(widths[c] - width_of(text), ' ');
      const std::string shown = best && bold ? "\x1b[1m" + text + "\x1b[0m" : text;
      line += (c > 0 ? "  " : "") + (grid.left[c] ? shown + pad : pad + shown);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines += line + "\n";
    if (r > 0) continue;
    size_t total = 2 * (widths.size() - 1);
    for (size_t width : widths) total += width;
    for (size_t i = 0; i < total; ++i) lines += "─";
    lines += "\n";
  }
  return lines;
}

}  // namespace synthesizer
