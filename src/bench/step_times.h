#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/step_setting.h"

namespace synthesizer::bench {

/// Seconds of one training step, medians of `repeats` rounds, one for each attention.
std::vector<double> time_steps(const StepSetting& setting, const std::vector<std::string>& attentions,
                               int repeats);

/// Where a step's time goes.
struct StepShares {
  double seconds;                                     ///< of a whole step
  std::vector<std::pair<std::string, double>> parts;  ///< seconds by part; last what no operator took
};
StepShares time_step_parts(const StepSetting& setting, const std::string& attention, int repeats);

/// Leaves weights and tokens in the folder, where peers find them, and does what each line of standard input
/// asks for: a step; "check": one without dropout, so that losses can be compared; of several processes
/// (`group`), "exchange": what a step sends, and nothing else.
void steps_on_request(const StepSetting& setting, const std::string& attention, const std::string& folder,
                      ProcessGroup* group = nullptr);

}  // namespace synthesizer::bench
