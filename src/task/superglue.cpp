#include "task/superglue.h"

#include "task/benchmark_scores.h"
#include "task/benchmark_text.h"
#include "text/json_object.h"

namespace synthesizer {
namespace {

/// A task whose lines are one example each, with texts at the top.
struct FlatTask {
  std::string name;
  std::vector<std::string> keys;  ///< in the order of the source, by the names of the file
  Labels labels;
  std::string optional{};  ///< the key that some editions of the files do not have
};

class FlatReader : public BenchmarkReader {
 public:
  explicit FlatReader(FlatTask task) : task_(std::move(task)) {}

  std::vector<TextExample> read(const std::string& text, int64_t, const std::string& where) override {
    if (is_blank(text)) return {};
    const JsonObject object(text, where);
    SourceText source(task_.name);
    for (const auto& key : task_.keys) {
      if (key != task_.optional || object.has(key)) source.add(key, object.text(key));
    }
    return {single_answer(source.take(), target_of(task_.labels, object.text("label"), where))};
  }

 private:
  FlatTask task_;
};

Benchmark flat(const std::string& name, const FlatTask& task, Scorer score,
               std::vector<std::string> counted = {"accuracy"}) {
  return {name, "superglue", [task](bool) { return std::make_unique<FlatReader>(task); }, std::move(score),
          std::move(counted)};
}

}  // namespace

std::vector<Benchmark> superglue_benchmarks() {
  const Labels truth{{"true", "True"}, {"false", "False"}};
  return {
      flat("boolq", {"boolq", {"passage", "question"}, truth}, accuracy_score()),
      flat("cb",
           {"cb",
            {"hypothesis", "premise"},
            {{"entailment", "entailment"}, {"contradiction", "contradiction"}, {"neutral", "neutral"}}},
           macro_f1_score({"entailment", "contradiction", "neutral"}), {"macro_f1", "accuracy"}),
      flat("copa",
           {"copa", {"choice1", "choice2", "premise", "question"}, {{"0", "choice1"}, {"1", "choice2"}}},
           accuracy_score()),
      {"multirc",
       "superglue",
       [](bool) { return multirc_reader(); },
       multirc_scores(),
       {"f1a", "exact_match"}},
      {"record", "superglue", record_reader, best_answer_scores(), {"f1", "exact_match"}},
      flat("superglue-rte",
           {"rte",
            {"hypothesis", "premise"},
            {{"entailment", "entailment"}, {"not_entailment", "not_entailment"}}},
           accuracy_score()),
      // The part of speech stood in WiC's first edition, with which the T5 paper was written, and no longer
      // does.
      flat("wic", {"wic", {"pos", "sentence1", "sentence2", "word"}, truth, "pos"}, accuracy_score()),
      {"wsc", "superglue", [](bool) { return wsc_reader(); }, accuracy_score(), {"accuracy"}},
  };
}

}  // namespace synthesizer
