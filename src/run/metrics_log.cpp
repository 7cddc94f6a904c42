#include "run/metrics_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace synthesizer {
namespace {

using LogJson = nlohmann::ordered_json;

bool is_number(const LogJson& value) {
  return value.is_number() || value.is_null();
}

double number_of(const LogJson& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

bool is_list(const LogJson& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), is_number);
}

std::vector<double> list_of(const LogJson& value) {
  std::vector<double> numbers;
  for (const LogJson& entry : value) numbers.push_back(number_of(entry));
  return numbers;
}

/// A list of numbers as one row, a list of such lists as several; nothing where it is neither.
std::optional<std::vector<std::vector<double>>> rows_of(const LogJson& value) {
  if (is_list(value)) return {{list_of(value)}};
  if (!value.is_array() || !std::all_of(value.begin(), value.end(), is_list)) return std::nullopt;
  std::vector<std::vector<double>> rows;
  for (const LogJson& row : value) rows.push_back(list_of(row));
  return rows;
}

/// Steps count from 0.
std::optional<int64_t> step_of(const LogJson& value) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (!value.is_number_unsigned() || value.get<uint64_t>() > kMost) return std::nullopt;
  return value.get<int64_t>();
}

/// Nothing where the line is not an object with a step, a split, and numbers.
std::optional<Measurement> parse_line(std::string_view line) {
  const LogJson object = LogJson::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return std::nullopt;
  Measurement found;
  std::optional<int64_t> step;
  bool split = false;
  for (const auto& [key, value] : object.items()) {
    if (key == "step") {
      step = step_of(value);
    } else if (key == "split" && value.is_string()) {
      found.split = value.get<std::string>();
      split = true;
    } else if (is_number(value)) {
      found.values.emplace_back(key, number_of(value));
    } else if (auto rows = rows_of(value)) {
      found.rows.emplace_back(key, *std::move(rows));
    } else {
      return std::nullopt;
    }
  }
  if (!step || !split) return std::nullopt;
  found.step = *step;
  return found;
}

/// Hands over every line with what it says, a torn last one left out.
void each_line(const std::string& name, std::string_view text,
               const std::function<void(std::string_view, Measurement)>& take) {
  for (int64_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    auto found = parse_line(line);
    if (found) {
      take(line, *std::move(found));
    } else if (end != text.npos) {
      invalid(
          fmt::format("{}:{}: not a line of metrics, an object with step, split and numbers: remove the line",
                      name, number));
    }
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
}

}  // namespace

std::optional<double> Measurement::value(const std::string& key) const {
  for (const auto& [name, number] : values) {
    if (name == key) return number;
  }
  return std::nullopt;
}

std::vector<Measurement> parse_metrics(const std::string& name, std::string_view text) {
  std::vector<Measurement> all;
  double seconds = 0;
  each_line(name, text, [&](std::string_view, Measurement found) {
    seconds = found.value("seconds").value_or(seconds);
    found.seconds = seconds;
    all.push_back(std::move(found));
  });
  return all;
}

std::string metrics_until(const std::string& name, std::string_view text, int64_t step) {
  std::string kept;
  each_line(name, text, [&](std::string_view line, const Measurement& found) {
    if (found.step <= step) kept.append(line).append("\n");
  });
  return kept;
}

void MetricsLog::add(int64_t step, const std::string& split,
                     const std::vector<std::pair<std::string, double>>& values) {
  LogJson line = {{"step", step}, {"split", split}};
  for (const auto& [name, value] : values) {
    if (line.contains(name)) invalid(fmt::format("two metrics of step {} are named '{}'", step, name));
    line[name] = std::isfinite(value) ? LogJson(value) : LogJson(nullptr);
  }
  log_.add(line.dump(-1, ' ', false, LogJson::error_handler_t::replace));
}

void MetricsLog::add_rows(int64_t step, const std::string& split, const MetricRows& rows) {
  LogJson line = {{"step", step}, {"split", split}};
  for (const auto& [name, values] : rows)
    line[name] = values.size() == 1 ? LogJson(values.front()) : LogJson(values);
  log_.add(line.dump(-1, ' ', false, LogJson::error_handler_t::replace));
}

void MetricsLog::drop_after(const std::string& path, int64_t step) {
  if (!std::filesystem::exists(path)) return;
  const std::string text = read_file(path);
  const std::string kept = metrics_until(path, text, step);
  if (kept != text) write_file(path, kept);
}

std::vector<Measurement> MetricsLog::read(const std::string& path) {
  return parse_metrics(path, read_file(path));
}

}  // namespace synthesizer
