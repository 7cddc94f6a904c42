#pragma once

#include "report/table.h"

namespace synthesizer {

// A table for people, its notes below it.

/// For a terminal; `bold` where it understands codes for bold type.
std::string terminal_table(const Table& table, bool bold = false);

/// GitHub's Markdown, the best figures in bold type.
std::string markdown_table(const Table& table);

/// LaTeX with the package booktabs: a tabular, the best figures in bold type, notes as a paragraph below.
std::string latex_table(const Table& table);

}  // namespace synthesizer
