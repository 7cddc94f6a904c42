#include "report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace synthesizer {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// What stands in the page between two texts.
std::string between(const std::string& html, const std::string& before, const std::string& after) {
  const auto begin = html.find(before) + before.size();
  return html.substr(begin, html.find(after, begin) - begin);
}

json data_of(const std::string& html) {
  return json::parse(between(html, "<script type=\"application/json\" id=\"data\">", "</script>"));
}

TEST(Page, HasItsDataItsTitleAndEverythingElseInside) {
  const json report = {{"title", "A & B"}, {"runs", {{{"name", "V"}, {"seconds", 1.5}}}}};
  const auto html = page(report);
  EXPECT_THAT(html, StartsWith("<!doctype html>"));
  EXPECT_EQ(between(html, "<title>", "</title>"), "A &amp; B");
  EXPECT_EQ(data_of(html), report);
  EXPECT_THAT(html, HasSubstr("University of Washington Interactive Data Lab"));  // the charts' licence
  for (const char* outside : {"src=\"http", "href=\"http", "@import", "sourceMappingURL"}) {
    EXPECT_THAT(html, Not(HasSubstr(outside)));
  }
  for (const char* place :
       {"{{title}}", "{{data}}", "{{style}}", "{{script}}", "{{library}}", "{{licences}}"}) {
    EXPECT_THAT(html, Not(HasSubstr(place)));
  }
}

TEST(Page, TextOfARunNeverEndsTheScriptItStandsIn) {
  const json report = {{"title", "</title><script>"},
                       {"runs", {{{"outputs", {"</script><!--", "{{title}}"}}}}}};
  const auto html = page(report);
  EXPECT_EQ(data_of(html), report);
  EXPECT_EQ(between(html, "<title>", "</title>"), "&lt;/title&gt;&lt;script&gt;");
}

TEST(Page, BytesThatAreNoTextAreReplaced) {
  const auto html = page({{"title", "\xff!"}, {"runs", json::array()}});
  EXPECT_EQ(data_of(html)["title"], "\xef\xbf\xbd!");
  EXPECT_EQ(between(html, "<title>", "</title>"), "\xef\xbf\xbd!");
}

TEST(Page, WithoutATitleItIsAReport) {
  EXPECT_EQ(between(page({{"runs", json::array()}}), "<title>", "</title>"), "Report");
}

TEST(Page, NeedsAListOfRuns) {
  EXPECT_THROW(page(json::object()), InvalidInput);
  EXPECT_THROW(page({{"runs", "V"}}), InvalidInput);
  EXPECT_THROW(page(json::array()), InvalidInput);
}

}  // namespace
}  // namespace synthesizer
