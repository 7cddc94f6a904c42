#include "report/paper.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "report/paper_tables.h"

namespace synthesizer {
namespace {

using Json = nlohmann::ordered_json;

const Json& tables() {
  static const Json json = Json::parse(kPaperTables);
  return json;
}

const Json& narang() {
  static const Json json = Json::parse(kNarangTables);
  return json;
}

/// Small letters and digits: what people write differently is gone.
std::string plain(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

/// The entry of {name: [other names]} that is meant; empty where none is.
std::string known_as(const Json& names, const std::string& wanted) {
  for (const auto& [name, others] : names.items()) {
    if (plain(name) == wanted) return name;
    for (const auto& other : others) {
      if (plain(other.get<std::string>()) == wanted) return name;
    }
  }
  return "";
}

/// "Synthesizer (Random + Vanilla)" as "R+V": short names, in one order whatever was written.
std::string canonical(std::string_view attention) {
  std::vector<std::string> members;
  while (!attention.empty()) {
    const size_t end = std::min(attention.find('+'), attention.size());
    const std::string_view written = attention.substr(0, end);
    std::string member = plain(written.substr(0, written.find(':')));
    if (constexpr std::string_view kOwn = "synthesizer"; member.starts_with(kOwn))
      member.erase(0, kOwn.size());
    const std::string name = known_as(tables()["names"], member);
    members.push_back(name.empty() ? member : name);
    attention.remove_prefix(std::min(end + 1, attention.size()));
  }
  std::sort(members.begin(), members.end());
  std::string result;
  for (const std::string& member : members) result += (result.empty() ? "" : "+") + member;
  return result;
}

/// Whether a row is meant for runs with these settings. Models whose layers are applied several times have
/// rows of their own, which say so.
bool holds_for(const Json& row, const Settings& settings) {
  const Json conditions = row.value("settings", Json::object());
  const std::string depth = setting(settings, "model.recurrent_depth");
  const bool recurrent = !depth.empty() && depth != "0";
  if (recurrent && !conditions.contains("model.recurrent_depth")) return false;
  for (const auto& [key, allowed] : conditions.items()) {
    const std::string value = setting(settings, key);
    if (std::none_of(allowed.begin(), allowed.end(), [&](const Json& one) { return one == value; }))
      return false;
  }
  return true;
}

/// The figure of that column for that attention; rows with a label are other models than the plain one.
const Json* figure_in(const Json& table, size_t column, const std::string& attention,
                      const Settings& settings) {
  for (const Json& row : table["rows"]) {
    if (row.contains("label") || canonical(row["attention"].get<std::string>()) != attention) continue;
    if (!holds_for(row, settings)) continue;
    const Json& figure = row["figures"][column];
    if (figure.is_number()) return &figure;
  }
  return nullptr;
}

std::optional<PaperFigure> find_figure(const Json& published, std::string_view where,
                                       std::string_view attention, const Settings& settings,
                                       std::string_view score) {
  const std::string data = known_as(tables()["data"], plain(where)), wanted = canonical(attention);
  for (const Json& table : published["tables"]) {
    for (size_t c = 0; c < table["columns"].size(); ++c) {
      const Json& column = table["columns"][c];
      if (!column.contains("key") || column["key"] != score) continue;
      if (data.empty() ? column["task"] != where : column["data"] != data) continue;
      const Json* figure = figure_in(table, c, wanted, settings);
      if (!figure) continue;
      return PaperFigure{figure->get<double>() * column.value("scale", 1.0), column["data"], table["source"],
                         table["status"] == "checked"};
    }
  }
  return std::nullopt;
}

/// The data set that one of these names begins with the name of; the longest that fits: "superglue" is not
/// "glue".
std::string data_of(const std::vector<std::string>& names) {
  std::string best;
  size_t longest = 0;
  for (const auto& [data, others] : tables()["data"].items()) {
    for (const auto& other : others) {
      const std::string alias = plain(other.get<std::string>());
      const bool fits = std::any_of(names.begin(), names.end(),
                                    [&](const std::string& name) { return name.starts_with(alias); });
      if (!fits || alias.size() <= longest) continue;
      best = data;
      longest = alias.size();
    }
  }
  return best;
}

}  // namespace

std::optional<PaperFigure> paper_figure(std::string_view where, std::string_view attention,
                                        const Settings& settings, std::string_view score) {
  return find_figure(tables(), where, attention, settings, score);
}

std::optional<PaperFigure> narang_figure(std::string_view where, std::string_view attention,
                                         const Settings& settings, std::string_view score) {
  return find_figure(narang(), where, attention, settings, score);
}

std::string paper_data(const std::string& recipe) {
  return data_of({plain(std::filesystem::path(recipe).filename().string())});
}

std::string paper_data(const RunRecord& run) {
  std::vector<std::string> names;
  auto add = [&](const std::filesystem::path& path) {
    for (const auto& part : path) names.push_back(plain(part.string()));
  };
  for (const std::string& word : run.provenance.command) {
    const std::filesystem::path path(word);
    if (path.extension() == ".toml") add(path.filename());
  }
  for (const auto& [file, hash] : run.provenance.data) add(file);
  return data_of(names);
}

}  // namespace synthesizer
