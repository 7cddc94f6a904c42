#pragma once

#include "task/benchmark.h"

namespace synthesizer {

/// SQuAD 1.1 (Rajpurkar et al. 2016): a question and a passage that holds its answer. Read are the official
/// file, one JSON object with all articles in one line, and JSON lines with one question each ("context",
/// "question", "answers": {"text": […]}).
///
/// As T5 has it: "question: … context: …" with spaces around punctuation, the first answer as the target.
/// Exact match and F1 as the official script counts them, of the answers in that same form, since the model
/// writes that.
Benchmark squad_benchmark();

}  // namespace synthesizer
