// SQuAD as text to text: both layouts, T5's spaces around punctuation, the official scores.

#include <gtest/gtest.h>

#include "task/benchmarks.h"

namespace synthesizer::testing {
namespace {

const char* const kNested =
    R"({"version": "1.1", "data": [{"title": "T", "paragraphs": [{"context": "In 1,990 (U.K.)\nthe  firm’s\tname.",
        "qas": [{"question": "Who's it?", "id": "a", "answers": [{"text": "U.K.", "answer_start": 10}, {"text": "the firm", "answer_start": 16}]},
                {"question": "When", "id": "b", "answers": [{"text": "1,990", "answer_start": 3}]}]}]}]})";

TEST(Squad, official_file) {
  const auto examples = read_lines(find_benchmark("SQuAD"), {kNested, ""}, true);
  const std::string context = " context: In 1 , 990 ( U . K . ) the firm’s name .";
  EXPECT_EQ(shown(examples), (Texts{"question: Who ' s it ?" + context + " -> U . K .",
                                    "question: When" + context + " -> 1 , 990"}));
  EXPECT_EQ(examples[0].answers, (Texts{"U . K .", "the firm"}));
  EXPECT_NE(examples[0].group, examples[1].group);
}

TEST(Squad, one_question_a_line) {
  EXPECT_EQ(
      texts(
          "squad",
          {R"({"id": "x", "context": "C.", "question": "Q?", "answers": {"text": ["C", "D"], "answer_start": [0, 1]}})"}),
      Texts{"question: Q ? context: C . -> C"});
}

// The official evaluate-v1.1.py gives for these answers, by hand: exact match 1 of 3; F1 of (1 + 2/3 + 0)
// / 3.
TEST(Squad, scores_of_the_official_script) {
  std::vector<TextExample> examples;
  for (const Texts& answers : {Texts{"The red house", "a house"}, Texts{"seven stones"}, Texts{"blue"}})
    examples.push_back({"q", answers.front(), std::to_string(examples.size()), answers});
  const auto scores = find_benchmark("squad").score(examples, {"House!", "stones", "green"});
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_EQ(scores[0].first, "f1");
  EXPECT_NEAR(scores[0].second, 100 * (1 + 2.0 / 3) / 3, 1e-12);
  EXPECT_EQ(scores[1].first, "exact_match");
  EXPECT_NEAR(scores[1].second, 100.0 / 3, 1e-12);
}

TEST(Squad, mistakes_are_told_with_their_place) {
  EXPECT_EQ(
      complaint("squad", {R"({"data": [{"paragraphs": [{"context": "c", "qas": [{"question": "q"}]}]}]})"}),
      "f:1, data[0], paragraphs[0], qas[0]: there is no key 'answers' among question");
  EXPECT_EQ(complaint("squad", {R"({"context": "c", "question": "q", "answers": {"text": [1]}})"}),
            "f:1, answers: the value of 'text' is an array: an array of strings is needed");
  EXPECT_EQ(complaint("squad", {R"({"context": "c", "question": "q", "answers": {"text": []}})"})
                .find("f:1: there is no answer"),
            0u);
}

}  // namespace
}  // namespace synthesizer::testing
