#include <fmt/format.h>

#include "cli/command.h"
#include "cli/print.h"
#include "report/table_grid.h"

namespace synthesizer::cli {

void TextTable::print(size_t left) const {
  TableGrid grid;
  for (size_t c = 0; c < rows_.front().size(); ++c) grid.left.push_back(c < left);
  for (const auto& row : rows_) {
    auto& entries = grid.rows.emplace_back();
    for (const std::string& text : row) entries.push_back({text});
  }
  print_out("{}", lines_of(grid));
}

}  // namespace synthesizer::cli
