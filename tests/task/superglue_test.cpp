// SuperGLUE's lines as text to text: each task, what its texts are cleaned of, wrong lines.

#include <gtest/gtest.h>

#include "task/benchmarks.h"

namespace synthesizer::testing {
namespace {

TEST(SuperGlue, boolq) {
  EXPECT_EQ(
      texts("BoolQ", {R"({"question": "is it", "passage": "P \"q\" فا\n", "idx": 0, "label": true})", " ",
                      R"({"question": "a", "passage": "b", "label": false})"}),
      (Texts{"boolq passage: P \"q\" فا  question: is it -> True", "boolq passage: b question: a -> False"}));
}

TEST(SuperGlue, cb_and_rte_have_the_hypothesis_first) {
  EXPECT_EQ(texts("CB", {R"({"premise": "P.", "hypothesis": "H", "label": "neutral", "idx": 3})"}),
            Texts{"cb hypothesis: H premise: P. -> neutral"});
  EXPECT_EQ(texts("superglue-rte",
                  {R"({"premise": "P.", "hypothesis": "H", "label": "not_entailment", "idx": 3})"}),
            Texts{"rte hypothesis: H premise: P. -> not_entailment"});
}

TEST(SuperGlue, copa) {
  EXPECT_EQ(texts("COPA",
                  {R"({"premise": "P", "choice1": "A", "choice2": "B", "question": "cause", "label": 0})",
                   R"({"premise": "P", "choice1": "A", "choice2": "B", "question": "effect", "label": 1})"}),
            (Texts{"copa choice1: A choice2: B premise: P question: cause -> choice1",
                   "copa choice1: A choice2: B premise: P question: effect -> choice2"}));
}

TEST(SuperGlue, wic_with_and_without_the_part_of_speech) {
  EXPECT_EQ(
      texts("WiC", {R"({"word": "w", "sentence1": "a", "sentence2": "b", "label": true, "start1": 3})",
                    R"({"word": "w", "sentence1": "a", "sentence2": "b", "pos": "N", "label": false})"}),
      (Texts{"wic sentence1: a sentence2: b word: w -> True",
             "wic pos: N sentence1: a sentence2: b word: w -> False"}));
}

TEST(SuperGlue, multirc_has_an_example_for_each_answer_in_groups_of_a_question) {
  const auto examples = read_lines(
      find_benchmark("MultiRC"),
      {R"({"idx": 4, "version": 1.1, "passage": {"text": "<b>Sent 1: </b>One.<br><b>Sent 2: </b>Two.<br>", "questions": [
          {"question": "Q?", "idx": 7, "answers": [{"text": "x", "idx": 0, "label": 0}, {"text": "y", "idx": 1, "label": 1}]},
          {"question": "R?", "idx": 8, "answers": [{"text": "z", "idx": 2, "label": 1}]}]}})"});
  const std::string paragraph = " paragraph: Sent 1: One. Sent 2: Two.  -> ";
  EXPECT_EQ(shown(examples), (Texts{"multirc question: Q? answer: x" + paragraph + "False",
                                    "multirc question: Q? answer: y" + paragraph + "True",
                                    "multirc question: R? answer: z" + paragraph + "True"}));
  EXPECT_EQ(examples[0].group, "4/7");
  EXPECT_EQ(examples[1].group, "4/7");
  EXPECT_EQ(examples[2].group, "4/8");
}

// Places are counted in characters: what is before the entities has some of several bytes.
const char* const kRecord =
    R"({"source": "CNN", "idx": 3, "passage": {"text": "“Né” Ann met Bo\n@highlight\nBo won!\n@highlight\nAnn left",
        "entities": [{"start": 5, "end": 7}, {"start": 13, "end": 14}, {"start": 46, "end": 48}]},
        "qas": [{"query": "@placeholder won", "idx": 9, "answers": [{"start": 13, "end": 14, "text": "Bo"},
                 {"start": 5, "end": 7, "text": "Ann"}, {"start": 46, "end": 48, "text": "Ann"}]}]})";

TEST(SuperGlue, record_asks_for_one_answer_a_query) {
  const auto examples = read_lines(find_benchmark("ReCoRD"), {kRecord});
  EXPECT_EQ(shown(examples),
            Texts{"record query: @placeholder won entities: Ann, Bo passage: “Né” Ann met Bo. "
                  "Bo won! Ann left -> Ann"});
  EXPECT_EQ(examples[0].answers, (Texts{"Ann", "Bo"}));
  EXPECT_EQ(examples[0].group, "3/9");
}

TEST(SuperGlue, record_trains_on_every_answer) {
  const auto examples = read_lines(find_benchmark("record"), {kRecord}, true);
  ASSERT_EQ(examples.size(), 2u);
  EXPECT_EQ(examples[0].target, "Ann");
  EXPECT_EQ(examples[1].target, "Bo");
  EXPECT_EQ(examples[0].source, examples[1].source);
  EXPECT_EQ(examples[1].answers, (Texts{"Ann", "Bo"}));
  EXPECT_EQ(examples[1].group, "3/9");
}

std::string wsc(const std::string& text, const std::string& noun, int at_noun, const std::string& pronoun,
                int at_pronoun) {
  const std::string line = R"({"text": ")" + text + R"(", "label": false, "target": {"span1_text": ")" +
                           noun + R"(", "span1_index": )" + std::to_string(at_noun) + R"(, "span2_text": ")" +
                           pronoun + R"(", "span2_index": )" + std::to_string(at_pronoun) + "}}";
  const auto found = texts("WSC", {line});
  return found.at(0);
}

TEST(SuperGlue, wsc_marks_the_noun_and_the_pronoun) {
  EXPECT_EQ(wsc("This is a test sentence .", "test", 3, "This", 0),
            "wsc text: # This # is a * test * sentence . -> False");
  EXPECT_EQ(wsc("Mark told Pete lies; he lied.", "Mark", 0, "he", 4),
            "wsc text: * Mark * told Pete lies; # he # lied. -> False");
}

TEST(SuperGlue, wsc_marks_words_at_their_place_and_no_others) {
  // The second "he", and not the "he" in "the"; the signs stand inside of a comma and of "'s".
  EXPECT_EQ(wsc("he saw the Bob's cat, he ran", "Bob", 3, "he", 5),
            "wsc text: he saw the * Bob *'s cat, # he # ran -> False");
  EXPECT_EQ(wsc("\\\"Good for him,\\\" a  b said", "a b", 3, "him", 2),
            "wsc text: \"Good for # him #,\" * a  b * said -> False");
}

TEST(SuperGlue, wsc_forgives_what_its_files_have) {
  EXPECT_EQ(wsc("I ate the worm . It was", "The worm", 2, "It", 5),
            "wsc text: I ate * the worm * . # It # was -> False");
  EXPECT_EQ(wsc("to use it , but it was safe", "safe", 6, "it", 1),
            "wsc text: to use # it # , but it was * safe * -> False");
  EXPECT_EQ(wsc("is Canopy Hunter it", "Canopy\\nHunter", 1, "it", 3),
            "wsc text: is * Canopy Hunter * # it # -> False");
  EXPECT_EQ(wsc("and their mothers are", "their mothers", 1, "their", 1),
            "wsc text: and * # their # mothers * are -> False");
  EXPECT_EQ(wsc("a friend of his left", "a friend of his", 0, "his", 3),
            "wsc text: * a friend of # his # * left -> False");
}

TEST(SuperGlue, mistakes_are_told_with_their_line) {
  EXPECT_EQ(complaint("boolq", {"", "{\"question\": \"q\","}),
            "f:2: not JSON from byte 18 on: one object a line is needed");
  EXPECT_EQ(complaint("boolq", {"[]"}), "f:1: array, where an object is needed");
  EXPECT_EQ(complaint("boolq", {R"({"question": "q", "passag": "p", "label": true})"}),
            "f:1: there is no key 'passage' among label, passag, question, did you mean 'passag'?");
  EXPECT_EQ(complaint("boolq", {R"({"question": "q", "passage": "p", "label": "yes"})"}),
            "f:1: the label 'yes' is none of true, false");
  EXPECT_EQ(complaint("cb", {R"({"premise": "p", "hypothesis": "h", "label": 0})"}),
            "f:1: the label '0' is none of entailment, contradiction, neutral");
  EXPECT_EQ(complaint("copa", {R"({"choice1": {}, "label": 0})"}),
            "f:1: the value of 'choice1' is an object: a string or a number is needed");
  EXPECT_EQ(complaint("multirc", {R"({"idx": 0, "passage": {"text": "p"}})"}),
            "f:1, passage: there is no key 'questions' among text");
  EXPECT_EQ(
      complaint("multirc", {R"({"idx": 0, "passage": {"text": "p", "questions": [{"idx": 0, "question": "q",
                                      "answers": [{"text": "a", "label": 2}]}]}})"}),
      "f:1, passage, questions[0], answers[0]: the label '2' is none of 0, 1");
  EXPECT_EQ(
      complaint("record", {R"({"idx": 0, "passage": {"text": "né", "entities": [{"start": 1, "end": 2}]}})"}),
      "f:1, passage, entities[0]: characters 1 to 2 are not in the passage, which has 2");
  EXPECT_EQ(complaint("record", {R"({"idx": 0, "passage": {"text": "n", "entities": []},
                                     "qas": [{"query": "q", "idx": 1, "answers": []}]})"}),
            "f:1, qas[0]: there is no answer to learn or to compare with");
  EXPECT_EQ(
      complaint("wsc",
                {R"({"text": "a b c", "label": true, "target": {"span1_text": "b", "span1_index": "1"}})"}),
      "f:1, target: the value of 'span1_index' is a string: a whole number is needed");
  EXPECT_EQ(
      complaint("wsc",
                {R"({"text": "a b c d", "label": true, "target": {"span1_text": "d", "span1_index": 0}})"}),
      "f:1, target: 'd' does not stand at word 0 of the text");
}

}  // namespace
}  // namespace synthesizer::testing
