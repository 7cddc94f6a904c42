// JSON that requests bring, read strictly, and forms.

#include "serve/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serve/error.h"
#include "serve/form.h"

namespace synthesizer::serve {
namespace {

using ::testing::HasSubstr;

/// The error that the call ends with.
template <class Call>
ApiError error_of(const Call& call) {
  try {
    call();
  } catch (const ApiError& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {0, ""};
}

Fields parsed(const std::string& body) {
  return Fields(body);
}

TEST(Fields, AreReadByTheirTypes) {
  Fields fields = parsed(R"({"a": "text", "b": ["x", "y"], "c": 7, "d": 0.5, "e": true, "f": null, "g": 3})");
  EXPECT_EQ(fields.text("a"), "text");
  EXPECT_EQ(fields.texts("a")->texts, std::vector<std::string>{"text"});
  EXPECT_FALSE(fields.texts("a")->list);
  EXPECT_EQ(fields.texts("b")->texts, (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(fields.texts("b")->list);
  EXPECT_EQ(fields.integer("c", 0, 10), 7);
  EXPECT_EQ(fields.real("d", 0, 1), 0.5);
  EXPECT_EQ(fields.real("g", 0, 10), 3);
  EXPECT_EQ(fields.flag("e"), true);
  EXPECT_FALSE(fields.text("f"));
  EXPECT_FALSE(fields.text("absent"));
  fields.finish();
}

TEST(Fields, RefuseOtherTypesAndRanges) {
  Fields fields = parsed(
      R"({"text": 1, "number": "1", "far": 99, "part": 1.5, "huge": 18446744073709551615, "mix": ["a", 1]})");
  EXPECT_EQ(error_of([&] { fields.text("text"); }).param, "text");
  EXPECT_EQ(error_of([&] { fields.integer("number", 0, 9); }).param, "number");
  EXPECT_THAT(error_of([&] { fields.integer("far", 0, 9); }).what(), HasSubstr("from 0 to 9"));
  EXPECT_THAT(error_of([&] { fields.integer("part", 0, 9); }).what(), HasSubstr("whole number"));
  EXPECT_EQ(error_of([&] { fields.integer("huge", 0, INT64_MAX); }).status, 400);
  EXPECT_STREQ(error_of([&] { fields.texts("mix"); }).what(),
               "'mix' is a list whose item 1 is a whole number: it must be a string or a list of strings");
  EXPECT_THAT(error_of([&] { fields.required_text("none"); }).what(), HasSubstr("missing"));
}

TEST(Fields, RefuseWhatNobodyAskedForWithTheNearestName) {
  Fields fields = parsed(R"({"temperatur": 1})");
  fields.real("temperature", 0, 1);
  const auto error = error_of([&] { fields.finish(); });
  EXPECT_THAT(error.what(), HasSubstr("did you mean 'temperature'?"));
  EXPECT_EQ(error.param, "temperatur");
}

TEST(Fields, RefuseWhatIsLikeNoNameWithTheListOfNames) {
  Fields fields = parsed(R"({"text": "a"})");
  fields.text("prompt");
  fields.flag("stream");
  EXPECT_STREQ(error_of([&] { fields.finish(); }).what(),
               "'text' is not a field of this request: the fields are prompt, stream");
}

TEST(Fields, RefuseBodiesThatAreNoObject) {
  for (const std::string body :
       {"", " \n", "null", "{", "[]", "7", "{} {}", "{\"a\": \"\xff\"}", "nul", "{\"a\": 1e999}"})
    EXPECT_EQ(error_of([&] { Fields fields(body); }).status, 400) << body;
  EXPECT_STREQ(error_of([] { parsed("\r\n"); }).what(), "the body is empty: send a JSON object");
  EXPECT_STREQ(error_of([] { parsed("null"); }).what(), "the body is null: send a JSON object");
  EXPECT_THAT(error_of([] { Fields fields = parsed(R"({"a": 1, "a": 2})"); }).what(), HasSubstr("twice"));
  const std::string deep = "{\"a\": " + std::string(1000, '[') + std::string(1000, ']') + "}";
  EXPECT_THAT(error_of([&] { Fields fields(deep); }).what(), HasSubstr("levels"));
  Fields nested = parsed(R"({"a": {"b": 1}, "c": {"b": 2}})");  // one key in two objects
  EXPECT_EQ(nested.raw("a")["b"], 1);
}

TEST(Form, IsDecoded) {
  const auto fields = form_fields("q=a+b%20c%C3%BC&source=en&empty=&q=second&flag&%zz=%4");
  EXPECT_EQ(fields["q"], (nlohmann::json{"a b cü", "second"}));
  EXPECT_EQ(fields["source"], "en");
  EXPECT_EQ(fields["empty"], "");
  EXPECT_EQ(fields["flag"], "");
  EXPECT_EQ(fields["%zz"], "%4");
  EXPECT_EQ(error_of([] { form_fields("q=%ff"); }).status, 400);
  EXPECT_TRUE(form_fields("").empty());
}

}  // namespace
}  // namespace synthesizer::serve
