#pragma once

#include "report/compared_settings.h"
#include "run/run_record.h"

namespace synthesizer {

/// Throws InvalidInput where the runs are not of one task or not of the same data, with the names of the
/// first two that differ and of what differs. Data are the same where their contents are, wherever they lie.
void check_comparable(const std::vector<const RunRecord*>& runs);

/// Names to tell the runs by: their attention; where several have the same, the settings in which these
/// differ behind it ("R, seed 2"), and where there are none or too many of them, the folder (its whole path
/// where the names of folders are the same too).
std::vector<std::string> labels_of(const std::vector<const RunRecord*>& runs);

}  // namespace synthesizer
