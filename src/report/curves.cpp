#include "report/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"
#include "base/file.h"

namespace synthesizer {
namespace {

using Json = nlohmann::ordered_json;

double number_of(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

bool is_list(const Json& value) {
  return value.is_array() && !value.empty() && std::all_of(value.begin(), value.end(), [](const Json& entry) {
           return entry.is_number() || entry.is_null();
         });
}

std::vector<double> list_of(const Json& value) {
  std::vector<double> numbers;
  for (const Json& entry : value) numbers.push_back(number_of(entry));
  return numbers;
}

/// Adds what a key says; false where it is nothing that can be measured.
bool add(Measurement& line, const std::string& key, const Json& value) {
  if (value.is_number() || value.is_null()) {
    line.values.emplace_back(key, number_of(value));
  } else if (is_list(value)) {
    line.rows.push_back({key, {list_of(value)}});
  } else if (value.is_array() && std::all_of(value.begin(), value.end(), is_list)) {
    line.rows.push_back({key, {}});
    for (const Json& row : value) line.rows.back().second.push_back(list_of(row));
  } else {
    return false;
  }
  return true;
}

/// The split and its measurement; nothing where the line is no object with a step and a split.
std::optional<std::pair<std::string, Measurement>> parse(std::string_view text) {
  const Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object() || !object.contains("step") || !object["step"].is_number_integer()) return {};
  if (!object.contains("split") || !object["split"].is_string()) return {};
  Measurement line;
  line.step = object["step"].get<int64_t>();
  for (const auto& [key, value] : object.items()) {
    if (key != "step" && key != "split" && !add(line, key, value)) return {};
  }
  return std::pair(object["split"].get<std::string>(), std::move(line));
}

}  // namespace

std::optional<double> Measurement::value(const std::string& key) const {
  for (const auto& [name, number] : values) {
    if (name == key) return number;
  }
  return std::nullopt;
}

const std::vector<Measurement>& Curves::of(const std::string& split) const {
  static const std::vector<Measurement> none;
  for (const auto& [name, lines] : splits) {
    if (name == split) return lines;
  }
  return none;
}

int64_t Curves::last_step() const {
  int64_t last = 0;
  for (const auto& [name, lines] : splits) {
    for (const Measurement& line : lines) last = std::max(last, line.step);
  }
  return last;
}

Curves read_curves(const std::string& path) {
  Curves curves;
  if (!std::filesystem::exists(path)) return curves;
  const std::string file = read_file(path);
  std::string_view text = file;
  double seconds = 0;
  for (int64_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    if (end == text.npos) break;
    auto line = parse(text.substr(0, end));
    if (!line) invalid(fmt::format("{}:{}: not a line of measurements: remove it", path, number));
    auto& measurement = line->second;
    seconds = measurement.value("seconds").value_or(seconds);
    measurement.seconds = seconds;
    auto found = std::find_if(curves.splits.begin(), curves.splits.end(),
                              [&](const auto& known) { return known.first == line->first; });
    if (found == curves.splits.end()) found = curves.splits.insert(found, {line->first, {}});
    found->second.push_back(std::move(measurement));
    text.remove_prefix(end + 1);
  }
  return curves;
}

}  // namespace synthesizer
