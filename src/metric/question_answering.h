#pragma once

#include <string>
#include <vector>

#include "metric/metric.h"

namespace synthesizer {

/// Scores of answers to questions, 0 to 100.

/// A text as SQuAD's and ReCoRD's official scripts compare it: small letters, without ASCII punctuation, then
/// without the words a, an, the, one space between words.
std::string normalized_answer(std::string_view text);

/// 100 where the prediction is one of the answers, normalized.
double exact_match(std::string_view prediction, const Segments& answers);

/// The F1 of the words in common, normalized, with the answer that gives the most.
double f1(std::string_view prediction, const Segments& answers);

/// MultiRC: any number of a question's options may be true.
struct MultiRcOption {
  std::string question;  ///< which question it is an option of
  bool predicted = false, gold = false;
};

/// F1a: of "true" over the options of all questions together; 0 where nothing is true and predicted.
double multirc_f1a(const std::vector<MultiRcOption>& options);

/// The share of questions all of whose options are predicted rightly. Throws InvalidInput where there are
/// none.
double multirc_exact_match(const std::vector<MultiRcOption>& options);

}  // namespace synthesizer
