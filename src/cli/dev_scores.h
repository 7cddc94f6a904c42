#pragma once

#include "task/task.h"

namespace synthesizer::cli {

/// What dev says about a model that is being made into another: with greedy search, as it is only compared.
/// `texts`: what needs writing is scored too.
Scores dev_scores(Task& task, const Dataset& dev, bool texts);

/// Before beside after.
void print_scores(const Scores& before, const Scores& after);

}  // namespace synthesizer::cli
