#include "train/metrics_log.h"

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

/// A list of numbers as one row, a list of such lists as several; nothing where it is neither.
std::optional<std::vector<std::vector<double>>> rows_of(const LogJson& value) {
  auto numbers = [](const LogJson& list) {
    return list.is_array() &&
           std::all_of(list.begin(), list.end(), [](const LogJson& n) { return n.is_number(); });
  };
  if (numbers(value)) return {{value.get<std::vector<double>>()}};
  if (value.is_array() && std::all_of(value.begin(), value.end(), numbers))
    return value.get<std::vector<std::vector<double>>>();
  return std::nullopt;
}

/// Nothing where the line is no object with a step, a split, and numbers.
std::optional<Metrics> parse(std::string_view line) {
  const LogJson object = LogJson::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return std::nullopt;
  Metrics metrics;
  bool step = false, split = false;
  for (const auto& [key, value] : object.items()) {
    if (key == "step" && value.is_number_integer()) {
      metrics.step = value.get<int64_t>();
      step = true;
    } else if (key == "split" && value.is_string()) {
      metrics.split = value.get<std::string>();
      split = true;
    } else if (value.is_number() || value.is_null()) {
      metrics.values.emplace_back(
          key, value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
    } else if (auto rows = rows_of(value)) {
      metrics.rows.emplace_back(key, *std::move(rows));
    } else {
      return std::nullopt;
    }
  }
  if (!step || !split) return std::nullopt;
  return metrics;
}

/// Hands over every line with what it says, a torn last one left out.
void each_line(const std::string& path, std::string_view text,
               const std::function<void(std::string_view, Metrics)>& take) {
  for (int64_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    auto metrics = parse(line);
    if (metrics) {
      take(line, *std::move(metrics));
    } else if (end != text.npos) {
      invalid(
          fmt::format("{}:{}: not a line of metrics, an object with step, split and numbers: remove the line",
                      path, number));
    }
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
}

}  // namespace

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
  std::string kept;
  each_line(path, text, [&](std::string_view line, const Metrics& metrics) {
    if (metrics.step <= step) kept.append(line).append("\n");
  });
  if (kept != text) write_file(path, kept);
}

std::vector<Metrics> MetricsLog::read(const std::string& path) {
  std::vector<Metrics> all;
  each_line(path, read_file(path),
            [&](std::string_view, Metrics metrics) { all.push_back(std::move(metrics)); });
  return all;
}

}  // namespace synthesizer
