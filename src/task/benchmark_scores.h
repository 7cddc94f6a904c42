#pragma once

#include <functional>
#include <string>
#include <vector>

#include "task/benchmark.h"

namespace synthesizer {

/// Official scores of written answers, counted by the metrics (metric/classify.h, metric/regress.h,
/// metric/question_answering.h). White space around an answer does not count.
///
/// A model writes what it likes, so an answer may be no label at all. It is wrong then, whatever the score:
/// for F1, Matthews and MultiRC, which are defined for two classes, it counts as the class that is not the
/// right one (T5 does so for F1); for macro F1 as a miss of its class and a find of none; for the
/// correlations, where a number is needed, as 0.
///
/// Each throws InvalidInput where there is nothing to score, where there are not as many answers as examples,
/// and where the right answers lack a class without which the score means nothing.
using Scorer = decltype(Benchmark::score);

Scorer accuracy_score();
Scorer f1_score(std::string positive, std::string negative);  ///< f1 and accuracy
Scorer matthews_score(std::string positive, std::string negative);
Scorer macro_f1_score(std::vector<std::string> classes);  ///< macro_f1 and accuracy
Scorer correlation_scores();                              ///< pearson, spearman
Scorer multirc_scores();      ///< f1a over all answers, exact_match over questions
Scorer best_answer_scores();  ///< ReCoRD, SQuAD: f1, exact_match of the right answer that fits best

}  // namespace synthesizer
