#include "task/benchmark_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/number_text.h"
#include "metric/classify.h"
#include "metric/question_answering.h"
#include "metric/regress.h"

namespace synthesizer {
namespace {

using Examples = std::vector<TextExample>;
using Answers = std::vector<std::string>;

std::string trimmed(const std::string& text) {
  constexpr const char* kSpace = " \t\n\v\f\r";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

/// Right answers and given ones, side by side.
struct Pairs {
  Segments gold, given;
};

Pairs pairs_of(const Examples& examples, const Answers& answers) {
  if (examples.empty()) invalid("there are no examples to score");
  if (examples.size() != answers.size())
    invalid(fmt::format("{} answers to {} examples: one each is needed", answers.size(), examples.size()));
  Pairs pairs;
  for (const TextExample& example : examples) pairs.gold.push_back(trimmed(example.target));
  for (const std::string& answer : answers) pairs.given.push_back(trimmed(answer));
  return pairs;
}

void check_class(const Pairs& pairs, const std::string& wanted, const char* score) {
  if (std::find(pairs.gold.begin(), pairs.gold.end(), wanted) == pairs.gold.end())
    invalid(fmt::format("{} needs an example of class '{}': none of the {} is", score, wanted,
                        pairs.gold.size()));
}

/// The same with two classes only: what is neither is the one that is wrong there.
Pairs of_two_classes(const Examples& examples, const Answers& answers, const std::string& positive,
                     const std::string& negative) {
  Pairs pairs = pairs_of(examples, answers);
  for (size_t i = 0; i < pairs.gold.size(); ++i) {
    std::string& given = pairs.given[i];
    if (given != positive && given != negative) given = pairs.gold[i] == positive ? negative : positive;
  }
  return pairs;
}

double number_or_zero(const std::string& text) {
  double number = 0;
  return parse_number(text, number) && std::isfinite(number) ? number : 0;
}

}  // namespace

Scorer accuracy_score() {
  return [](const Examples& examples, const Answers& answers) -> BenchmarkScores {
    const Pairs pairs = pairs_of(examples, answers);
    return {{"accuracy", accuracy(pairs.given, pairs.gold)}};
  };
}

Scorer f1_score(std::string positive, std::string negative) {
  return [=](const Examples& examples, const Answers& answers) -> BenchmarkScores {
    const Pairs pairs = of_two_classes(examples, answers, positive, negative);
    check_class(pairs, positive, "f1");
    return {{"f1", f1_binary(pairs.given, pairs.gold, positive)},
            {"accuracy", accuracy(pairs.given, pairs.gold)}};
  };
}

Scorer matthews_score(std::string positive, std::string negative) {
  return [=](const Examples& examples, const Answers& answers) -> BenchmarkScores {
    const Pairs pairs = of_two_classes(examples, answers, positive, negative);
    for (const auto& one : {positive, negative}) check_class(pairs, one, "matthews");
    return {{"matthews", matthews(pairs.given, pairs.gold)}};
  };
}

Scorer macro_f1_score(std::vector<std::string> classes) {
  return [=](const Examples& examples, const Answers& answers) -> BenchmarkScores {
    const Pairs pairs = pairs_of(examples, answers);
    // Over the task's classes, not over all that was written: a slip of the pen is no class of its own.
    double sum = 0;
    for (const auto& one : classes) {
      check_class(pairs, one, "macro_f1");
      sum += f1_binary(pairs.given, pairs.gold, one);
    }
    return {{"macro_f1", sum / static_cast<double>(classes.size())},
            {"accuracy", accuracy(pairs.given, pairs.gold)}};
  };
}

Scorer correlation_scores() {
  return [](const Examples& examples, const Answers& answers) -> BenchmarkScores {
    const Pairs pairs = pairs_of(examples, answers);
    std::vector<double> gold, given;
    for (const TextExample& example : examples)
      gold.push_back(number_or_zero(example.answers.empty() ? example.target : example.answers.front()));
    for (const std::string& answer : pairs.given) given.push_back(number_or_zero(answer));
    // A model that always gives one answer knows nothing of the order: no mistake of the user's, and worth 0.
    const bool constant = std::all_of(given.begin(), given.end(), [&](double n) { return n == given[0]; });
    if (constant) return {{"pearson", 0}, {"spearman", 0}};
    return {{"pearson", pearson(given, gold)}, {"spearman", spearman(given, gold)}};
  };
}

Scorer multirc_scores() {
  return [](const Examples& examples, const Answers& answers) -> BenchmarkScores {
    const Pairs pairs = of_two_classes(examples, answers, "True", "False");
    check_class(pairs, "True", "f1a");
    std::vector<MultiRcOption> options;
    for (size_t i = 0; i < examples.size(); ++i)
      options.push_back({examples[i].group, pairs.given[i] == "True", pairs.gold[i] == "True"});
    return {{"f1a", multirc_f1a(options)}, {"exact_match", multirc_exact_match(options)}};
  };
}

Scorer best_answer_scores() {
  return [](const Examples& examples, const Answers& answers) -> BenchmarkScores {
    const Pairs pairs = pairs_of(examples, answers);
    std::set<std::string> queries;
    double words = 0, matches = 0;
    for (size_t i = 0; i < examples.size(); ++i) {
      // Examples for training have a query several times; it counts once.
      if (!queries.insert(examples[i].group).second) continue;
      const Segments& right =
          examples[i].answers.empty() ? Segments{examples[i].target} : examples[i].answers;
      words += f1(pairs.given[i], right);
      matches += exact_match(pairs.given[i], right);
    }
    const auto count = static_cast<double>(queries.size());
    return {{"f1", words / count}, {"exact_match", matches / count}};
  };
}

}  // namespace synthesizer
