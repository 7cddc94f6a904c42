#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/number_text.h"

namespace synthesizer {
namespace {

std::string bytes(double count) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  for (; count >= 999.5 && unit + 1 < std::size(kUnits); ++unit) count /= 1000;
  return fmt::format("{:.{}f} {}", count, unit > 0 && count < 99.95 ? 1 : 0, kUnits[unit]);
}

}  // namespace

std::string shown(const TableColumn& column, double number) {
  if (!std::isfinite(number)) return "?";
  switch (column.numbers) {
    case TableColumn::Numbers::count: return with_thousands(std::llround(number));
    case TableColumn::Numbers::duration: return duration(number);
    case TableColumn::Numbers::bytes: return bytes(number);
    case TableColumn::Numbers::fixed: break;
  }
  return fmt::format("{:.{}f}", number, column.digits);
}

void Table::add(std::vector<TableCell> row) {
  if (row.size() != columns_.size()) {
    throw std::logic_error(
        fmt::format("a row of {} cells for a table of {} columns", row.size(), columns_.size()));
  }
  rows_.push_back(std::move(row));
}

bool Table::best(size_t row, size_t column) const {
  const TableColumn& of = columns_[column];
  const auto& value = rows_[row][column].value;
  if (of.best == TableColumn::Best::none || !value || !std::isfinite(*value)) return false;
  // Figures that look alike are as good as each other: a bold one among equals would only confuse.
  const std::string ours = shown(of, *value);
  bool worse_ones = false;
  for (const auto& other : rows_) {
    const auto& their = other[column].value;
    if (!their || !std::isfinite(*their) || shown(of, *their) == ours) continue;
    if (of.best == TableColumn::Best::highest ? *their > *value : *their < *value) return false;
    worse_ones = true;
  }
  return worse_ones;
}

bool Table::significant(size_t row, size_t column) const {
  const TableCell &ours = rows_[row][column], &first = rows_[0][column];
  if (!ours.p || !ours.value || !first.value || *ours.p >= 0.05) return false;
  return shown(columns_[column], *ours.value) != shown(columns_[column], *first.value);
}

bool Table::has(size_t column, std::optional<double> TableCell::*part) const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [&](const auto& row) { return (row[column].*part).has_value(); });
}

std::vector<std::string> Table::notes() const {
  auto any = [&](const auto& test) {
    return std::any_of(rows_.begin(), rows_.end(),
                       [&](const auto& row) { return std::any_of(row.begin(), row.end(), test); });
  };
  std::vector<std::string> notes;
  if (any([](const TableCell& cell) { return cell.low && cell.high; }))
    notes.push_back("±: half of the interval that 95% of bootstrap resamples lie in");
  if (any([](const TableCell& cell) { return cell.spread.has_value(); }))
    notes.push_back("mean over seeds, in brackets the standard deviation");
  if (any([](const TableCell& cell) { return cell.p.has_value(); }))
    notes.push_back("*: differs from the first row, paired bootstrap, p < 0.05");
  if (any([](const TableCell& cell) { return cell.paper.has_value(); }))
    notes.push_back("paper: Tay et al., Synthesizer (arXiv 2005.00743)");
  if (any([](const TableCell& cell) { return cell.narang.has_value(); }))
    notes.push_back("2021: Narang et al., a later study with the authors' code (arXiv 2102.11972)");
  notes.insert(notes.end(), notes_.begin(), notes_.end());
  return notes;
}

}  // namespace synthesizer
