#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/examples.h"

namespace synthesizer {

/// Benchmarks as T5 sees them: every task is a text to write after another, so that one model, one loss and
/// one way of decoding serve all of them. What differs is here: the files (GLUE and SuperGLUE in their own
/// formats, SQuAD, plain text), the words around their fields, and the score.

/// One example as text to text.
struct TextExample {
  std::string source, target;
  /// What is scored together: MultiRC's and SQuAD's question, ReCoRD's query; empty elsewhere.
  std::string group;
  /// All that are right, where there are several (ReCoRD, SQuAD); otherwise {target}. STS-B: the score as the
  /// file has it, of which the target is a rounded form.
  std::vector<std::string> answers;
};

/// Reads one file of a benchmark, line by line; knows its header. One reader a file, from its first line on.
class BenchmarkReader {
 public:
  virtual ~BenchmarkReader() = default;
  /// Examples of that line: none for a header, several where a line holds a passage with many questions.
  /// `line` counts from 1; `where`, "train.tsv:17", begins the message of what is wrong with it
  /// (InvalidInput). The text is without its line end, as LineReader gives it.
  virtual std::vector<TextExample> read(const std::string& text, int64_t line, const std::string& where) = 0;
};

/// Scores by their names, in the order to show them; all are of 100.
using BenchmarkScores = std::vector<std::pair<std::string, double>>;

struct Benchmark {
  std::string name;   ///< "sst2", "boolq"
  std::string suite;  ///< "glue", "superglue", or empty
  /// `training`: ReCoRD gives one example for each right answer in training and one per query otherwise.
  std::function<std::unique_ptr<BenchmarkReader>(bool training)> open;
  /// Scores of one answer an example, by the names of `synth score` (accuracy, f1, matthews,
  /// pearson, spearman, macro_f1, f1a, exact_match). See task/benchmark_scores.h for answers that are no
  /// label.
  std::function<BenchmarkScores(const std::vector<TextExample>&, const std::vector<std::string>& answers)>
      score;
  /// Which of the scores, averaged, stand for the task in the suite's average; none: it is no part of it
  /// (WNLI).
  std::vector<std::string> counted;
  /// The task of the suite that it is another set of (MNLI's mismatched one is mnli); empty: its own name.
  std::string counted_as{};
  /// Plain text, one document per line, learnt by span corruption: no questions, so `score` is empty.
  bool running_text = false;
};

/// The registry: GLUE, then SuperGLUE, each in its official order; SQuAD; span corruption.
const std::vector<Benchmark>& benchmarks();
/// By name, letter case and marks aside: "SST-2", "sst2", "CoLA"; SuperGLUE's RTE is "superglue-rte". Throws
/// InvalidInput, with the nearest name, where there is none of that name.
const Benchmark& find_benchmark(const std::string& name);

/// Any table: `source` and `target` are texts with {column} in them ("{{" and "}}" for braces); the format is
/// "tsv", with a header, or "jsonl". Scored by accuracy: the share of answers that are the target.
Benchmark template_benchmark(const std::string& name, const std::string& source, const std::string& target,
                             TextFormat format);

/// The one number that stands for a task: the mean of its scores that count, or of all where none does.
double task_score(const Benchmark& benchmark, const BenchmarkScores& scores);

/// The mean over the tasks of a suite of their counted scores. Several sets of one task (MNLI's matched and
/// mismatched ones) count once, by their mean.
double suite_average(const std::vector<std::pair<const Benchmark*, BenchmarkScores>>& results,
                     const std::string& suite);

}  // namespace synthesizer
