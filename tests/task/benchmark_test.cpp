// The registry of benchmarks, their scores with values counted by hand, templates, averages.

#include "task/benchmark.h"

#include <gtest/gtest.h>

#include <cmath>

#include "task/benchmarks.h"

namespace synthesizer::testing {
namespace {

std::vector<TextExample> with_targets(const Texts& targets) {
  std::vector<TextExample> examples;
  for (const auto& target : targets) examples.push_back({"", target, "", {target}});
  return examples;
}

BenchmarkScores scores(const std::string& name, const Texts& targets, const Texts& answers) {
  return find_benchmark(name).score(with_targets(targets), answers);
}

void expect_scores(const BenchmarkScores& found, const BenchmarkScores& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].first, expected[i].first);
    EXPECT_NEAR(found[i].second, expected[i].second, 1e-9) << found[i].first;
  }
}

std::string mistake(const std::function<void()>& action) {
  try {
    action();
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

TEST(Benchmarks, are_found_by_the_names_people_write) {
  for (const std::string name : {"SST-2", "sst2", "sst-2", "SST2"})
    EXPECT_EQ(find_benchmark(name).name, "sst2");
  EXPECT_EQ(find_benchmark("STS-B").name, "stsb");
  EXPECT_EQ(find_benchmark("RTE").suite, "glue");
  EXPECT_EQ(find_benchmark("SuperGLUE/RTE").suite, "superglue");
  EXPECT_EQ(mistake([] { find_benchmark("bolq"); }),
            "no benchmark 'bolq', did you mean 'boolq'? (there are cola, sst2, mrpc, stsb, qqp, mnli, "
            "mnli-mm, qnli, "
            "rte, wnli, "
            "boolq, cb, copa, multirc, record, superglue-rte, wic, wsc, squad, span-corruption)");
}

TEST(Benchmarks, score_what_they_count) {
  for (const Benchmark& benchmark : benchmarks()) {
    EXPECT_EQ(&find_benchmark(benchmark.name), &benchmark);
    EXPECT_EQ(benchmark.running_text, benchmark.name == "span-corruption");
    if (benchmark.running_text) continue;  // it has no questions
    EXPECT_EQ(mistake([&] { benchmark.score({}, {}); }), "there are no examples to score") << benchmark.name;
    EXPECT_EQ(mistake([&] { benchmark.score(with_targets({"x"}), {}); }),
              "0 answers to 1 examples: one each is needed");
    EXPECT_EQ(benchmark.counted.empty(), benchmark.name == "wnli");
  }
}

TEST(Benchmarks, accuracy_takes_anything_else_for_wrong) {
  for (const std::string name :
       {"sst2", "mnli", "qnli", "rte", "wnli", "boolq", "copa", "superglue-rte", "wic", "wsc"}) {
    expect_scores(scores(name, {"True", "True", "False", "True"}, {" True\n", "true", "False", "True False"}),
                  {{"accuracy", 50}});
  }
}

TEST(Benchmarks, matthews_of_cola) {
  // 2 found, 1 missed, 1 rightly refused; "perhaps" is a wrong find: (2·1 - 1·1) / √(3·3·2·2)
  const Texts right{"acceptable", "acceptable", "acceptable", "unacceptable", "unacceptable"};
  expect_scores(
      scores("cola", right, {"acceptable", "acceptable", "unacceptable", "unacceptable", "perhaps"}),
      {{"matthews", 100.0 / 6}});
  expect_scores(scores("cola", right, right), {{"matthews", 100}});
  expect_scores(scores("cola", right, Texts(5, "acceptable")), {{"matthews", 0}});
  expect_scores(scores("cola", right, Texts(5, "?")), {{"matthews", -100}});
}

TEST(Benchmarks, f1_of_mrpc_and_qqp) {
  // 2 found, 1 missed, and "" where it is not: 2·2 / (2·2 + 1 + 1)
  expect_scores(scores("mrpc", {"equivalent", "equivalent", "equivalent", "not_equivalent"},
                       {"equivalent", "equivalent", "not_equivalent", ""}),
                {{"f1", 200.0 / 3}, {"accuracy", 50}});
  // "dup" is a miss: 1 found, 1 missed, none too many
  expect_scores(
      scores("qqp", {"duplicate", "duplicate", "not_duplicate"}, {"duplicate", "dup", "not_duplicate"}),
      {{"f1", 200.0 / 3}, {"accuracy", 200.0 / 3}});
}

TEST(Benchmarks, correlations_of_stsb) {
  // Differences from the mean (-1.5 -0.5 0.5 1.5) and (-1.5 -0.5 1.5 0.5): 4 / 5
  expect_scores(scores("stsb", {"1.0", "2.0", "3.0", "4.0"}, {"1.0", "2", "4.0", "3.0"}),
                {{"pearson", 80}, {"spearman", 80}});
  // "two" is 0: (-1 0 1) and (-1 -4 5)/3 give 2 / √(2 · 42/9); ranks 2 1 3: 1 - 6·2/24
  expect_scores(scores("stsb", {"1.0", "2.0", "3.0"}, {"1.0", "two", "3.0"}),
                {{"pearson", 100 * 2 / std::sqrt(2 * 42.0 / 9)}, {"spearman", 50}});
  expect_scores(scores("stsb", {"1.0", "2.0"}, {"3.0", "3.0"}), {{"pearson", 0}, {"spearman", 0}});
  expect_scores(scores("stsb", {"1.0", "2.0"}, {"nan", "inf"}), {{"pearson", 0}, {"spearman", 0}});
}

TEST(Benchmarks, correlations_are_with_the_scores_before_rounding) {
  const auto examples =
      read_lines(find_benchmark("stsb"), {"score\tsentence1\tsentence2", "0\ta\tb", "0.09\ta\tb", "3\ta\tb"});
  EXPECT_EQ(examples[1].target, "0.0");
  expect_scores(find_benchmark("stsb").score(examples, {"0", "0.09", "3"}),
                {{"pearson", 100}, {"spearman", 100}});
}

TEST(Benchmarks, macro_f1_of_cb_is_over_its_three_classes) {
  // entailment 2·1/(1+2), contradiction 2·1/(2+1), neutral 0: "hm" is a miss of it and no fourth class
  expect_scores(scores("cb", {"entailment", "entailment", "contradiction", "neutral"},
                       {"entailment", "contradiction", "contradiction", "hm"}),
                {{"macro_f1", 400.0 / 9}, {"accuracy", 50}});
}

TEST(Benchmarks, multirc_counts_answers_and_questions) {
  auto examples = with_targets({"True", "False", "True", "True"});
  for (size_t i = 0; i < 4; ++i) examples[i].group = i < 2 ? "0/0" : "0/1";
  // Of three true ones two are found, and none too many ("?" is a miss): 4/5. One question of two is whole.
  expect_scores(find_benchmark("multirc").score(examples, {"True", "False", "True", "?"}),
                {{"f1a", 80}, {"exact_match", 50}});
}

TEST(Benchmarks, record_takes_the_best_answer_and_counts_a_query_once) {
  const std::vector<TextExample> examples{{"", "Benazir Bhutto", "1/1", {"Benazir Bhutto", "Bhutto"}},
                                          {"", "Bhutto", "1/1", {"Benazir Bhutto", "Bhutto"}},
                                          {"", "Iran", "2/2", {"Iran"}}};
  // The words of "Iran deal" in common with "Iran": 2·1 / (2 + 1)
  expect_scores(find_benchmark("record").score(examples, {"the bhutto!", "x", "Iran deal"}),
                {{"f1", (100 + 200.0 / 3) / 2}, {"exact_match", 50}});
}

TEST(Benchmarks, scores_say_which_class_they_miss) {
  auto message = [](const std::string& name, const std::string& target) {
    return mistake([&] { scores(name, {target, target}, {target, target}); });
  };
  EXPECT_EQ(message("cola", "acceptable"),
            "matthews needs an example of class 'unacceptable': none of the 2 is");
  EXPECT_EQ(message("qqp", "not_duplicate"), "f1 needs an example of class 'duplicate': none of the 2 is");
  EXPECT_EQ(message("cb", "entailment"),
            "macro_f1 needs an example of class 'contradiction': none of the 2 is");
  EXPECT_EQ(message("multirc", "False"), "f1a needs an example of class 'True': none of the 2 is");
}

TEST(Benchmarks, average_is_the_papers) {
  // The row of the vanilla Transformer in the paper's tables; MNLI's two sets are one task.
  auto result = [](const std::string& name, const BenchmarkScores& scores) {
    return std::make_pair(&find_benchmark(name), scores);
  };
  const std::vector<std::pair<const Benchmark*, BenchmarkScores>> results{
      result("cola", {{"matthews", 53.1}}),
      result("sst2", {{"accuracy", 92.2}}),
      result("mrpc", {{"f1", 92.0}, {"accuracy", 88.7}}),
      result("stsb", {{"pearson", 89.1}, {"spearman", 88.9}}),
      result("qqp", {{"f1", 88.2}, {"accuracy", 91.2}}),
      result("mnli", {{"accuracy", 84.7}}),
      result("mnli_mm", {{"accuracy", 85.0}}),
      result("qnli", {{"accuracy", 91.7}}),
      result("rte", {{"accuracy", 76.9}}),
      result("wnli", {{"accuracy", 0.0}}),
      result("boolq", {{"accuracy", 78.2}}),
      result("cb", {{"macro_f1", 72.1}, {"accuracy", 83.9}}),
      result("copa", {{"accuracy", 59.0}}),
      result("multirc", {{"f1a", 73.1}, {"exact_match", 32.1}}),
      result("record", {{"f1", 71.1}, {"exact_match", 70.3}}),
      result("superglue-rte", {{"accuracy", 77.3}}),
      result("wic", {{"accuracy", 65.8}}),
      result("wsc", {{"accuracy", 80.8}}),
  };
  EXPECT_NEAR(suite_average(results, "glue"), 83.475, 1e-9);
  EXPECT_NEAR(suite_average(results, "superglue"), 70.3, 1e-9);
  EXPECT_EQ(mistake([&] { suite_average(results, "clue"); }), "no scores of suite 'clue' to be averaged");
  EXPECT_EQ(mistake([&] {
              suite_average({result("mrpc", {{"f1", 1.0}})}, "glue");
            }),
            "mrpc has no accuracy to be averaged");
}

TEST(Templates, are_filled_from_any_table) {
  const Benchmark table =
      template_benchmark("mine", "q: {question} {{c}} {text}{text}", "{label}", TextFormat::tsv);
  EXPECT_EQ(shown(read_lines(table, {"label\ttext\tquestion", "yes\t\"t\"\tso?", "no\t\tü?"})),
            (Texts{"q: so? {c} \"t\"\"t\" -> yes", "q: ü? {c}  -> no"}));
  EXPECT_EQ(table.suite, "");
  const Benchmark lines = template_benchmark("mine", "{a}", "<{b}>", TextFormat::jsonl);
  EXPECT_EQ(shown(read_lines(lines, {R"({"a": "x{b}", "b": 1.5, "c": []})", "", R"({"a": true, "b": "z"})"})),
            (Texts{"x{b} -> <1.5>", "true -> <z>"}));
  expect_scores(lines.score(with_targets({"a", "b"}), {"a ", "c"}), {{"accuracy", 50}});
}

TEST(Templates, mistakes_are_told) {
  auto message = [](const std::string& source, const std::string& target, TextFormat format) {
    return mistake([&] { template_benchmark("mine", source, target, format); });
  };
  EXPECT_EQ(message("sum up", "{a}", TextFormat::tsv),
            "source of mine \"sum up\": it names no column: write one as {column}");
  EXPECT_EQ(message("{a}", "{{a}}", TextFormat::tsv),
            "target of mine \"{{a}}\": it names no column: write one as {column}");
  EXPECT_EQ(message("x {a", "{a}", TextFormat::tsv),
            "source of mine \"x {a\": the brace before 'a' is not closed");
  EXPECT_EQ(message("{a {b}", "{a}", TextFormat::tsv),
            "source of mine \"{a {b}\": the brace before 'a ' is not closed");
  EXPECT_EQ(message("a} {b}", "{a}", TextFormat::tsv),
            "source of mine \"a} {b}\": a } closes nothing (a brace of the text is written }})");
  EXPECT_EQ(message("{}", "{a}", TextFormat::tsv), "source of mine \"{}\": {} names no column");
  EXPECT_EQ(message("{a}", "{b}", TextFormat::lines), "format of mine is \"lines\": it must be tsv or jsonl");
  EXPECT_EQ(complaint(template_benchmark("mine", "{text}", "{lable}", TextFormat::tsv), {"label\ttext"}),
            "f:1: there is no column 'lable' among label, text, did you mean 'label'?");
  EXPECT_EQ(complaint(template_benchmark("mine", "{text}", "{label}", TextFormat::tsv), {"label\ttext", "a"}),
            "f:2: 1 fields, where the header has 2");
  EXPECT_EQ(complaint(template_benchmark("mine", "{text}", "{lable}", TextFormat::jsonl),
                      {R"({"label": 1, "text": "t"})"}),
            "f:1: there is no key 'lable' among label, text, did you mean 'label'?");
}

}  // namespace
}  // namespace synthesizer::testing
