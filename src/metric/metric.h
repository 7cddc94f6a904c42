#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace synthesizer {

/// One text per segment, and the references: one vector a set (a reference file), each as long as the texts.
using Segments = std::vector<std::string>;
using References = std::vector<Segments>;

/// Throws InvalidInput where there is nothing to score or the references don't fit.
void check_segments(const Segments& hypotheses, const References& references);

/// The references, for metrics that know one only. Throws InvalidInput where there are several.
const Segments& only_reference(const References& references, const std::string& metric);

/// The version of sacreBLEU whose numbers and signatures BLEU and chrF reproduce.
inline constexpr const char* kSacrebleuVersion = "2.4.3";

/// What a metric can be told, by name; a flag's values are "true" and "false".
struct MetricOption {
  std::string name;  ///< "tokenize", on the command line --tokenize
  std::string help;
  std::string fallback;              ///< its value where nothing is said
  std::vector<std::string> choices;  ///< empty: any
  bool flag = false;
};

/// Options as they were given, made complete by those that were not (see complete()).
using MetricOptions = std::map<std::string, std::string>;

/// Readers that name the option in their complaint.
bool flag_of(const MetricOptions& options, const std::string& name);
int64_t integer_of(const MetricOptions& options, const std::string& name, int64_t least, int64_t most);
double number_of(const MetricOptions& options, const std::string& name);

using MetricValue = std::variant<double, int64_t, std::string, std::vector<double>, std::vector<int64_t>>;

/// What a metric found: values in the order to show them, and lines for people, without the last line end.
struct MetricResult {
  std::vector<std::pair<std::string, MetricValue>> values;
  std::string text;
};

/// Scores with the plainest of texts: "accuracy = 84.30, matthews = 68.21".
MetricResult with_text(const std::vector<std::pair<std::string, double>>& scores);

/// Scores that can be taken again for other sets of the same segments, by key (resampled.h).
class Resampled;
using ResampledScore = std::shared_ptr<const Resampled>;
using ResampledScores = std::vector<std::pair<std::string, ResampledScore>>;

/// One line of the registry (registry.h). Scores are on the scale 0 to 100.
struct Metric {
  std::string name;
  std::string help;
  std::string headline;  ///< the key of the value that stands for the whole
  std::vector<MetricOption> options;
  std::function<MetricResult(const Segments&, const References&, const MetricOptions&)> compute;
  /// The same scores for resamples of the segments; the keys are among those of `compute`.
  std::function<ResampledScores(const Segments&, const References&, const MetricOptions&)> resample = {};
};

/// Fills in what was left out; options the metric doesn't take and values it doesn't know are InvalidInput.
MetricOptions complete(const Metric& metric, MetricOptions options);

/// The metric with these options, checks included.
MetricResult score(const Metric& metric, const Segments& hypotheses, const References& references,
                   const MetricOptions& options = {});

}  // namespace synthesizer
