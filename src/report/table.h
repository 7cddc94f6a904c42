#pragma once

#include <optional>
#include <string>
#include <vector>

namespace synthesizer {

/// What a column is: how its numbers are shown, and which of them is the best.
struct TableColumn {
  enum class Numbers { fixed, count, duration, bytes };
  enum class Best { none, highest, lowest };

  std::string key;      ///< its name in CSV and JSON: "tokens_per_second"
  std::string heading;  ///< for people: "tokens/s"
  Numbers numbers = Numbers::fixed;
  int digits = 2;  ///< behind the point, of Numbers::fixed
  Best best = Best::none;
  bool words = false;  ///< its cells are text, which stands on the left
};

/// One figure with all that is known of it, or a text, or nothing.
struct TableCell {
  std::string text;
  std::optional<double> value;
  std::optional<double> low, high;  ///< 95% of what resampling gave lie between them
  std::optional<double> spread;     ///< standard deviation over seeds, the value being the mean
  std::optional<double> p;          ///< that the difference to the first row is chance
  std::optional<double> paper;      ///< what the paper has in this place
  std::optional<double> narang;     ///< what a later study with the authors' code has (Narang et al. 2021)

  TableCell() = default;
  TableCell(const char* words) : text(words) {}
  TableCell(std::string words) : text(std::move(words)) {}
  TableCell(double number) : value(number) {}
};

/// A comparison as a value; table_text.h and table_data.h have its forms.
class Table {
 public:
  explicit Table(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

  /// One cell per column; a row of another length is an error of the caller (std::logic_error).
  void add(std::vector<TableCell> row);
  /// A line below the table.
  void note(std::string text) { notes_.push_back(std::move(text)); }

  const std::vector<TableColumn>& columns() const { return columns_; }
  const std::vector<std::vector<TableCell>>& rows() const { return rows_; }

  /// Whether the figure, as it is shown, is the best of its column; of one alone, or of equals all over,
  /// none is.
  bool best(size_t row, size_t column) const;
  /// Whether the figure differs from the first row's by more than chance, as far as 1 in 20 goes. (Equal
  /// figures never do, though sacreBLEU's formula gives them the smallest p.)
  bool significant(size_t row, size_t column) const;
  /// Whether any cell of the column has that part (&TableCell::paper).
  bool has(size_t column, std::optional<double> TableCell::*part) const;
  /// Those given, and what the marks in it mean.
  std::vector<std::string> notes() const;

 private:
  std::vector<TableColumn> columns_;
  std::vector<std::vector<TableCell>> rows_;
  std::vector<std::string> notes_;
};

/// A number as the column shows it: "27.67", "1,835,520", "12:07", "1.2 GB"; "?" where it is none.
std::string shown(const TableColumn& column, double number);

}  // namespace synthesizer
