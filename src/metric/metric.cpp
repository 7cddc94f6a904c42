#include "metric/metric.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/nearest.h"

namespace synthesizer {
namespace {

/// The whole text as a number; false where it is not one.
template <class T>
bool parse(const std::string& text, T& value) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end;
}

void check_value(const MetricOption& option, const std::string& value) {
  if (option.flag && value != "true" && value != "false") {
    invalid(fmt::format("option {} is '{}': it is true or false", option.name, value));
  }
  const auto& choices = option.choices;
  if (choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end()) return;
  invalid(fmt::format("option {} is '{}'{} (one of {})", option.name, value, did_you_mean(value, choices),
                      fmt::join(choices, ", ")));
}

}  // namespace

void check_segments(const Segments& hypotheses, const References& references) {
  if (hypotheses.empty()) invalid("there is nothing to score: no hypotheses were given");
  if (references.empty()) invalid("there is nothing to score against: no references were given");
  for (size_t i = 0; i < references.size(); ++i) {
    if (references[i].size() == hypotheses.size()) continue;
    invalid(fmt::format("{} hypotheses but {} segments in reference {}: every segment needs its line in each",
                        hypotheses.size(), references[i].size(), i + 1));
  }
}

const Segments& only_reference(const References& references, const std::string& metric) {
  if (references.size() == 1) return references.front();
  invalid(
      fmt::format("metric {} takes one reference a segment, and {} were given", metric, references.size()));
}

bool flag_of(const MetricOptions& options, const std::string& name) {
  return options.at(name) == "true";
}

int64_t integer_of(const MetricOptions& options, const std::string& name, int64_t least, int64_t most) {
  int64_t value = 0;
  if (!parse(options.at(name), value) || value < least || value > most) {
    invalid(fmt::format("option {} is '{}': it is a whole number from {} to {}", name, options.at(name),
                        least, most));
  }
  return value;
}

double number_of(const MetricOptions& options, const std::string& name) {
  double value = 0;
  if (!parse(options.at(name), value) || !std::isfinite(value) || value < 0) {
    invalid(fmt::format("option {} is '{}': it is a number from 0 on", name, options.at(name)));
  }
  return value;
}

MetricOptions complete(const Metric& metric, MetricOptions options) {
  std::vector<std::string> names;
  for (const MetricOption& option : metric.options) names.push_back(option.name);
  for (const auto& [name, value] : options) {
    const auto known = std::find(names.begin(), names.end(), name);
    if (known == names.end()) {
      invalid(fmt::format("metric {} takes no option {}{} (it takes {})", metric.name, name,
                          did_you_mean(name, names),
                          names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
    }
    check_value(metric.options[static_cast<size_t>(known - names.begin())], value);
  }
  for (const MetricOption& option : metric.options) options.try_emplace(option.name, option.fallback);
  return options;
}

MetricResult with_text(const std::vector<std::pair<std::string, double>>& scores) {
  MetricResult result;
  for (const auto& [name, score] : scores) {
    result.values.emplace_back(name, score);
    result.text += fmt::format("{}{} = {:.2f}", result.text.empty() ? "" : ", ", name, score);
  }
  return result;
}

MetricResult score(const Metric& metric, const Segments& hypotheses, const References& references,
                   const MetricOptions& options) {
  const MetricOptions all = complete(metric, options);
  check_segments(hypotheses, references);
  return metric.compute(hypotheses, references, all);
}

}  // namespace synthesizer
