#pragma once

#include "report/table.h"

namespace synthesizer {

/// A table as texts in rows and columns, before it takes a form: the paper's figures have columns of their
/// own, intervals and marks stand behind the figures. The form escapes what it must.
struct TableGrid {
  struct Entry {
    std::string text;
    bool bold = false;
  };
  std::vector<bool> left;                ///< a column: words, which stand on the left
  std::vector<std::vector<Entry>> rows;  ///< the first is the heading
};

TableGrid grid_of(const Table& table);

/// Lines for a terminal: columns as wide as their widest entry, a rule below the heading. Where `bold`, the
/// best stand in bold type, by the codes of terminals.
std::string lines_of(const TableGrid& grid, bool bold = false);

}  // namespace synthesizer
