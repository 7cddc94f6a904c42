// Rows that can only be headers.

#include "text/records.h"

#include <gtest/gtest.h>

namespace synthesizer::testing {
namespace {

bool is_header(std::string_view row) {
  return looks_like_header(split_tabs(row));
}

TEST(LooksLikeHeader, OfKnownNames) {
  for (const char* row : {"source\ttarget",
                          "label\ttext",
                          "Label\tSentence",
                          "sentence1\tsentence2\tlabel",
                          "prompt\tcompletion",
                          "prompt\tresponse",
                          "context\tresponse",
                          "document\thighlights",
                          "article\tsummary",
                          "query\tpassage",
                          "source\treference",
                          "text\ttranslation",
                          "dialogue\treply",
                          "en\tde",
                          "EN\tDE",
                          "en\tno",
                          "English\tGerman",
                          "english\tfrench",
                          "\"source\"\t\"target\"",
                          " source \t target ",
                          "Text A\tText B"})
    EXPECT_TRUE(is_header(row)) << row;
}

TEST(LooksLikeHeader, NotOfExamples) {
  for (const char* row : {"one\teins", "pos\ta good text", "source", "en", "source\tin the text",
                          "the text\tder Text", "no\tno", "text\ttext", "", "\t", "source\t", "en\tdas"})
    EXPECT_FALSE(is_header(row)) << row;
}

}  // namespace
}  // namespace synthesizer::testing
