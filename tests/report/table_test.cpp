#include "report/table.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/spread.h"
#include "report/table_data.h"
#include "report/table_text.h"

namespace synthesizer::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TableCell figure(double value, double low, double high, std::optional<double> p = {},
                 std::optional<double> paper = {}) {
  TableCell cell(value);
  cell.low = low;
  cell.high = high;
  cell.p = p;
  cell.paper = paper;
  return cell;
}

Table one_column(TableColumn column = {.key = "x", .heading = "x"}) {
  return Table(std::vector<TableColumn>{std::move(column)});
}

/// Two attentions with everything a cell can have, and a column of each kind.
Table comparison() {
  using Numbers = TableColumn::Numbers;
  using Best = TableColumn::Best;
  Table table({{.key = "attention", .heading = "attention", .words = true},
               {.key = "parameters", .heading = "parameters", .numbers = Numbers::count},
               {.key = "bleu", .heading = "BLEU", .best = Best::highest},
               {.key = "loss", .heading = "loss", .digits = 3, .best = Best::lowest},
               {.key = "seconds", .heading = "time", .numbers = Numbers::duration}});
  table.add({"V", 1835520.0, figure(36.8561, 35.2, 38.4, {}, 27.67), 1.72106, 998.2});
  table.add({"R_0|1", 2097664.0, figure(31.25, 30.0, 32.5, 0.002), 1.81, 913.0});
  return table;
}

TEST(Table, stands_in_columns_in_a_terminal) {
  EXPECT_EQ(terminal_table(comparison()),
            "attention  parameters           BLEU  paper   loss   time\n"
            "─────────────────────────────────────────────────────────\n"
            "V           1,835,520  36.86 ± 1.60   27.67  1.721  16:38\n"
            "R_0|1       2,097,664  31.25 ± 1.25*      –  1.810  15:13\n"
            "±: half of the interval that 95% of bootstrap resamples lie in\n"
            "*: differs from the first row, paired bootstrap, p < 0.05\n"
            "paper: Tay et al., Synthesizer (arXiv 2005.00743)\n");
}

TEST(Table, has_a_column_for_each_published_set) {
  Table table = one_column({.key = "loss", .heading = "loss", .digits = 3});
  TableCell cell(1.9);
  cell.paper = 1.865;
  cell.narang = 1.838;
  table.add({cell});
  EXPECT_THAT(terminal_table(table), HasSubstr(" loss  paper   2021\n"));
  EXPECT_THAT(terminal_table(table), HasSubstr("1.900  1.865  1.838\n"));
  EXPECT_THAT(terminal_table(table), HasSubstr("2021: Narang et al."));
  EXPECT_THAT(csv_table(table), HasSubstr("loss,loss_paper,loss_narang\r\n1.9,1.865,1.838"));
  EXPECT_EQ(json_table(table)["rows"][0]["loss"]["narang"], 1.838);
}

TEST(Table, has_bold_type_in_a_terminal_that_knows_it) {
  const std::string text = terminal_table(comparison(), true);
  EXPECT_THAT(text, HasSubstr("\x1b[1m36.86 ± 1.60 \x1b[0m"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b[1m31.25")));
}

TEST(Table, is_markdown_with_the_best_in_bold_and_signs_escaped) {
  EXPECT_EQ(markdown_table(comparison()),
            "| attention | parameters | BLEU | paper | loss | time |\n"
            "|---|---:|---:|---:|---:|---:|\n"
            "| V | 1,835,520 | **36.86 ± 1.60** | 27.67 | **1.721** | 16:38 |\n"
            "| R\\_0\\|1 | 2,097,664 | 31.25 ± 1.25\\* | – | 1.810 | 15:13 |\n"
            "\n"
            "±: half of the interval that 95% of bootstrap resamples lie in  \n"
            "\\*: differs from the first row, paired bootstrap, p &lt; 0.05  \n"
            "paper: Tay et al., Synthesizer (arXiv 2005.00743)\n");
}

TEST(Table, is_latex_with_booktabs_and_signs_escaped) {
  const std::string text = latex_table(comparison());
  EXPECT_THAT(text,
              HasSubstr("\\begin{tabular}{lrrrrr}\n\\toprule\nattention & parameters & BLEU & paper & loss "
                        "& time \\\\\n\\midrule\n"));
  EXPECT_THAT(text,
              HasSubstr("V & 1,835,520 & \\textbf{36.86 $\\pm$ 1.60} & 27.67 & \\textbf{1.721} & 16:38"));
  EXPECT_THAT(text, HasSubstr("R\\_0|1 & 2,097,664 & 31.25 $\\pm$ 1.25* & -- & 1.810"));
  EXPECT_THAT(text, HasSubstr("\\bottomrule\n\\end{tabular}\n"));
  EXPECT_THAT(text, HasSubstr("95\\% of bootstrap"));
}

TEST(Table, escapes_every_special_sign_of_latex) {
  Table table = one_column({.key = "text", .heading = "text", .words = true});
  table.add({"a&b%c$d#e_f{g}h~i^j\\k<l"});
  EXPECT_THAT(
      latex_table(table),
      HasSubstr("a\\&b\\%c\\$d\\#e\\_f\\{g\\}h\\textasciitilde{}i\\textasciicircum{}j\\textbackslash{}k"
                "\\textless{}l \\\\\n"));
}

TEST(Table, is_csv_with_all_there_is_of_a_figure) {
  EXPECT_EQ(csv_table(comparison()),
            "attention,parameters,bleu,bleu_low,bleu_high,bleu_p,bleu_paper,loss,seconds\r\n"
            "V,1835520,36.8561,35.2,38.4,,27.67,1.72106,998.2\r\n"
            "R_0|1,2097664,31.25,30,32.5,0.002,,1.81,913\r\n");
}

TEST(Table, quotes_what_csv_would_misread_and_keeps_empty_cells) {
  Table table({{.key = "a", .heading = "a", .words = true},
               {.key = "b", .heading = "b", .words = true},
               {.key = "c", .heading = "c"}});
  table.add({"", "x, \"y\"\nz", std::nan("")});
  EXPECT_EQ(csv_table(table), "a,b,c\r\n,\"x, \"\"y\"\"\nz\",\r\n");
}

TEST(Table, is_json_with_numbers_as_they_are) {
  const auto json = json_table(comparison());
  EXPECT_EQ(json["rows"][1]["bleu"].dump(),
            R"({"value":31.25,"low":30.0,"high":32.5,"p":0.002,"best":false})");
  EXPECT_EQ(json["rows"][0]["bleu"]["paper"], 27.67);
  EXPECT_EQ(json["rows"][0]["loss"]["best"], true);
  EXPECT_EQ(json["rows"][0]["attention"], "V");
  EXPECT_EQ(json["columns"][2]["higher_is_better"], true);
  EXPECT_EQ(json["columns"][3]["higher_is_better"], false);
  EXPECT_FALSE(json["columns"][1].contains("higher_is_better"));
  EXPECT_EQ(json["notes"].size(), 3u);
}

TEST(Table, knows_the_best_as_it_is_shown) {
  Table table = one_column({.key = "x", .heading = "x", .digits = 1, .best = TableColumn::Best::highest});
  for (const double value : {1.04, 1.02, 0.9, std::nan("")}) table.add({value});
  EXPECT_TRUE(table.best(0, 0));
  EXPECT_TRUE(table.best(1, 0)) << "it looks the same";
  EXPECT_FALSE(table.best(2, 0));
  EXPECT_FALSE(table.best(3, 0));
}

TEST(Table, has_no_best_where_all_are_equal) {
  Table table = one_column({.key = "x", .heading = "x", .best = TableColumn::Best::highest});
  table.add({1.0});
  EXPECT_FALSE(table.best(0, 0));
  table.add({1.0});
  EXPECT_FALSE(table.best(0, 0));
}

TEST(Table, marks_no_figure_equal_to_the_first) {
  Table table = one_column();
  table.add({1.0});
  TableCell same(1.0), other(2.0), doubtful(3.0);
  same.p = other.p = 0.001;
  doubtful.p = 0.05;
  for (const auto& cell : {same, other, doubtful}) table.add({cell});
  EXPECT_FALSE(table.significant(1, 0));
  EXPECT_TRUE(table.significant(2, 0));
  EXPECT_FALSE(table.significant(3, 0));
}

TEST(Table, shows_the_spread_over_seeds) {
  Table table = one_column();
  TableCell cell(27.5);
  cell.spread = 0.125;
  table.add({cell});
  table.note("three seeds");
  EXPECT_THAT(terminal_table(table), HasSubstr("27.50 (0.12)\nmean over seeds"));
  EXPECT_THAT(table.notes(), ElementsAre(HasSubstr("standard deviation"), "three seeds"));
  EXPECT_THAT(csv_table(table), HasSubstr("x,x_spread\r\n27.5,0.125\r\n"));
}

TEST(Table, shows_bytes_in_the_unit_that_fits) {
  const TableColumn bytes{.key = "b", .heading = "b", .numbers = TableColumn::Numbers::bytes};
  EXPECT_EQ(shown(bytes, 999), "999 B");
  EXPECT_EQ(shown(bytes, 1000), "1.0 kB");
  EXPECT_EQ(shown(bytes, 999960), "1.0 MB");
  EXPECT_EQ(shown(bytes, 316.3e6), "316 MB");
  EXPECT_EQ(shown(bytes, 25.27e9), "25.3 GB");
}

TEST(Table, refuses_a_row_of_another_length) {
  Table table = one_column();
  EXPECT_THROW(table.add({1.0, 2.0}), std::logic_error);
}

TEST(Spread, is_the_mean_and_the_deviation_of_a_sample) {
  const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_DOUBLE_EQ(spread_of(values).mean, 5);
  EXPECT_DOUBLE_EQ(spread_of(values).deviation, std::sqrt(32.0 / 7));
  EXPECT_TRUE(std::isnan(spread_of(std::span(values, 1)).deviation));
}

}  // namespace
}  // namespace synthesizer::testing
