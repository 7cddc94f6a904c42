#include "report/table_text.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "report/table_grid.h"

namespace synthesizer {
namespace {

using Replacements = std::vector<std::pair<std::string_view, std::string_view>>;

std::string replaced(std::string_view text, const Replacements& by) {
  std::string result;
  while (!text.empty()) {
    std::string_view from = text.substr(0, 1), to = from;
    for (const auto& [what, with] : by) {
      if (!text.starts_with(what)) continue;
      from = what;
      to = with;
      break;
    }
    result += to;
    text.remove_prefix(from.size());
  }
  return result;
}

std::string in_markdown(std::string_view text) {
  return replaced(text, {{"\\", "\\\\"},
                         {"|", "\\|"},
                         {"*", "\\*"},
                         {"_", "\\_"},
                         {"`", "\\`"},
                         {"<", "&lt;"},
                         {"[", "\\["},
                         {"\n", " "}});
}

std::string in_latex(std::string_view text) {
  return replaced(text, {{"\\", "\\textbackslash{}"},
                         {"{", "\\{"},
                         {"}", "\\}"},
                         {"&", "\\&"},
                         {"%", "\\%"},
                         {"$", "\\$"},
                         {"#", "\\#"},
                         {"_", "\\_"},
                         {"~", "\\textasciitilde{}"},
                         {"^", "\\textasciicircum{}"},
                         {"<", "\\textless{}"},
                         {">", "\\textgreater{}"},
                         {"±", "$\\pm$"},
                         {"–", "--"},
                         {"²", "$^2$"},
                         {"×", "$\\times$"},
                         {"\n", " "}});
}

/// Bold type goes round the figure, not round the blank that keeps a column straight in a terminal.
std::string dressed(const TableGrid::Entry& entry, std::string (*escape)(std::string_view),
                    const char* before, const char* after) {
  std::string text = entry.text;
  text.erase(text.find_last_not_of(' ') + 1);
  text = escape(text);
  return entry.bold ? before + text + after : text;
}

}  // namespace

std::string terminal_table(const Table& table, bool bold) {
  std::string text = lines_of(grid_of(table), bold);
  for (const std::string& note : table.notes()) text += note + "\n";
  return text;
}

std::string markdown_table(const Table& table) {
  const TableGrid grid = grid_of(table);
  std::string text;
  for (size_t r = 0; r < grid.rows.size(); ++r) {
    text += "|";
    for (const auto& entry : grid.rows[r]) text += " " + dressed(entry, in_markdown, "**", "**") + " |";
    text += "\n";
    if (r > 0) continue;
    text += "|";
    for (const bool left : grid.left) text += left ? "---|" : "---:|";
    text += "\n";
  }
  const auto notes = table.notes();
  for (size_t i = 0; i < notes.size(); ++i) {
    text +=
        fmt::format("{}{}{}\n", i == 0 ? "\n" : "", in_markdown(notes[i]), i + 1 < notes.size() ? "  " : "");
  }
  return text;
}

std::string latex_table(const Table& table) {
  const TableGrid grid = grid_of(table);
  std::string text = "% \\usepackage{booktabs}\n\\begin{tabular}{";
  for (const bool left : grid.left) text += left ? "l" : "r";
  text += "}\n\\toprule\n";
  for (size_t r = 0; r < grid.rows.size(); ++r) {
    for (size_t c = 0; c < grid.rows[r].size(); ++c) {
      text += (c > 0 ? " & " : "") + dressed(grid.rows[r][c], in_latex, "\\textbf{", "}");
    }
    text += r == 0 ? " \\\\\n\\midrule\n" : " \\\\\n";
  }
  text += "\\bottomrule\n\\end{tabular}\n";
  for (const std::string& note : table.notes())
    text += fmt::format("\n{{\\footnotesize {}}}\n", in_latex(note));
  return text;
}

}  // namespace synthesizer
