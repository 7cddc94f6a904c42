#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace synthesizer {

/// report.html: one file that opens offline, with everything in it: the data, the style, the scripts, the
/// chart library. A section for which the report has no data is left out; docs/report-data.md says what may
/// be in it:
///
///     {"title": …, "task": …, "scores": [{"key", "name", "higher_is_better"}],
///      "runs": [{"name", "parameters", "scores", "curves", "mixture", "attention", "outputs", …}],
///      "samples": [{"source", "reference"}], "settings": {"shared", "differ"}, "command": …}
///
/// Text need not be valid UTF-8, and nothing in it is read as HTML; numbers that are not finite count as
/// missing. Throws InvalidInput where the report has no list "runs".
std::string page(const nlohmann::json& report);

}  // namespace synthesizer
