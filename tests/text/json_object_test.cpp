// JSON lines read key by key: every kind of value, objects inside objects, and what is wrong with them.

#include "text/json_object.h"

#include <gtest/gtest.h>

#include "text/corpus.h"

namespace synthesizer::testing {
namespace {

const char* const kLine = R"({"text": "ü\n", "number": 7, "share": 0.5, "right": true, "none": null,
                              "inner": {"list": [{"a": 1}, {"a": 2}, 3]}})";

TEST(JsonObjects, give_values_by_their_keys) {
  const JsonObject object(kLine, "f:1");
  EXPECT_EQ(object.text("text"), "ü\n");
  EXPECT_EQ(object.text("number"), "7");
  EXPECT_EQ(object.text("share"), "0.5");
  EXPECT_EQ(object.text("right"), "true");
  EXPECT_EQ(object.integer("number"), 7);
  EXPECT_TRUE(object.has("none"));
  EXPECT_FALSE(object.has("list"));
}

TEST(JsonObjects, inside_outlive_the_line) {
  std::vector<JsonObject> list =
      JsonObject(R"({"x": {"list": [{"a": 1}, {"a": 2}]}})", "f:1").object("x").objects("list");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[1].integer("a"), 2);
  EXPECT_EQ(list[1].where(), "f:1, x, list[1]");
}

TEST(JsonObjects, say_what_is_wrong_and_where) {
  const JsonObject object(kLine, "f:1");
  EXPECT_EQ(mistake([&] { object.text("txt"); }),
            "f:1: there is no key 'txt' among inner, none, number, right, share, text, did you mean 'text'?");
  EXPECT_EQ(mistake([&] { object.text("none"); }),
            "f:1: the value of 'none' is null: a string or a number is needed");
  EXPECT_EQ(mistake([&] { object.text("inner"); }),
            "f:1: the value of 'inner' is an object: a string or a number is needed");
  EXPECT_EQ(mistake([&] { object.integer("share"); }),
            "f:1: the value of 'share' is a number: a whole number is needed");
  EXPECT_EQ(mistake([&] { object.object("text"); }),
            "f:1: the value of 'text' is a string: an object is needed");
  EXPECT_EQ(mistake([&] { object.objects("inner"); }),
            "f:1: the value of 'inner' is an object: an array is needed");
  EXPECT_EQ(mistake([&] { object.object("inner").objects("list"); }),
            "f:1, inner, list[2]: number, where an object is needed");
  EXPECT_EQ(mistake([&] { JsonObject("{", "f:2"); }),
            "f:2: not JSON from byte 2 on: one object a line is needed");
}

}  // namespace
}  // namespace synthesizer::testing
