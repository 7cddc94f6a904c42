#include "report/table_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace synthesizer {
namespace {

using Json = nlohmann::ordered_json;

/// What a cell may have beside its value.
constexpr std::pair<const char*, std::optional<double> TableCell::*> kParts[] = {
    {"low", &TableCell::low}, {"high", &TableCell::high},   {"spread", &TableCell::spread},
    {"p", &TableCell::p},     {"paper", &TableCell::paper}, {"narang", &TableCell::narang}};

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

std::string number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : "";
}

Json json_cell(const Table& table, size_t row, size_t column) {
  const TableCell& cell = table.rows()[row][column];
  if (!cell.value && !cell.paper && !cell.narang) return cell.text.empty() ? Json(nullptr) : Json(cell.text);
  Json json = Json::object();
  json["value"] = cell.value && std::isfinite(*cell.value) ? Json(*cell.value) : Json(nullptr);
  for (const auto& [name, part] : kParts) {
    if (cell.*part && std::isfinite(*(cell.*part))) json[name] = *(cell.*part);
  }
  if (table.columns()[column].best != TableColumn::Best::none) json["best"] = table.best(row, column);
  return json;
}

}  // namespace

std::string csv_table(const Table& table) {
  std::vector<std::vector<std::string>> fields(table.rows().size() + 1);
  auto add = [&](size_t line, const std::string& text) { fields[line].push_back(quoted(text)); };
  for (size_t c = 0; c < table.columns().size(); ++c) {
    add(0, table.columns()[c].key);
    for (size_t r = 0; r < table.rows().size(); ++r) {
      const TableCell& cell = table.rows()[r][c];
      add(r + 1, cell.value ? number(cell.value) : cell.text);
    }
    for (const auto& [name, part] : kParts) {
      const bool any = std::any_of(table.rows().begin(), table.rows().end(),
                                   [c, part = part](const auto& row) { return (row[c].*part).has_value(); });
      if (!any) continue;
      add(0, table.columns()[c].key + "_" + name);
      for (size_t r = 0; r < table.rows().size(); ++r) add(r + 1, number(table.rows()[r][c].*part));
    }
  }
  std::string text;
  for (const auto& line : fields) text += fmt::format("{}\r\n", fmt::join(line, ","));
  return text;
}

Json json_table(const Table& table) {
  Json columns = Json::array(), rows = Json::array();
  for (const TableColumn& column : table.columns()) {
    Json json = {{"key", column.key}, {"heading", column.heading}};
    if (column.best != TableColumn::Best::none)
      json["higher_is_better"] = column.best == TableColumn::Best::highest;
    columns.push_back(std::move(json));
  }
  for (size_t r = 0; r < table.rows().size(); ++r) {
    Json row = Json::object();
    for (size_t c = 0; c < table.columns().size(); ++c) row[table.columns()[c].key] = json_cell(table, r, c);
    rows.push_back(std::move(row));
  }
  return {{"columns", std::move(columns)}, {"rows", std::move(rows)}, {"notes", table.notes()}};
}

}  // namespace synthesizer
