// Reading specs, and the registry they name.

#include "attention/spec.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace synthesizer::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string read(const std::string& spec) {
  return short_spec(parse_spec(spec));
}

template <class Matcher>
void expect_refused(const std::string& spec, const Matcher& message) {
  EXPECT_THAT([&] { parse_spec(spec); }, ThrowsMessage<std::invalid_argument>(message)) << spec;
  EXPECT_THROW(parse_spec(spec), InvalidInput) << spec;
}

TEST(Spec, names_members_by_name_or_short_form_in_any_case) {
  EXPECT_EQ(read("V"), "V");
  EXPECT_EQ(read("vanilla"), "V");
  EXPECT_EQ(read("VANILLA"), "V");
  EXPECT_EQ(read("random+vanilla"), "R+V");
  EXPECT_EQ(read("r+v"), "R+V");
  EXPECT_EQ(read("Factorized-Dense+fix"), "FD+Fix");
  EXPECT_EQ(read(" R + V "), "R+V");
  for (const Variant& variant : variants()) {
    EXPECT_EQ(read(variant.name), variant.abbreviation);
    EXPECT_EQ(read(variant.abbreviation), variant.abbreviation);
  }
}

TEST(Spec, keeps_the_order_written) {
  EXPECT_EQ(read("D+FR+V"), "D+FR+V");
  EXPECT_EQ(read("V+FR+D"), "V+FR+D");
}

TEST(Spec, of_unknown_members_is_refused_with_the_nearest_and_all_names) {
  expect_refused("vanila", AllOf(HasSubstr("'vanila'"), HasSubstr("did you mean 'vanilla'?"),
                                 HasSubstr("factorized-dense")));
  expect_refused("R+X", AllOf(HasSubstr("'X'"), HasSubstr("did you mean"), HasSubstr("known: V, vanilla")));
  expect_refused("factorised-random", HasSubstr("did you mean 'factorized-random'?"));
  expect_refused("FX", HasSubstr("did you mean"));
  EXPECT_THAT([] { parse_spec("something-else-entirely"); },
              ThrowsMessage<std::invalid_argument>(::testing::Not(HasSubstr("did you mean"))));
}

TEST(Spec, with_an_empty_member_is_refused) {
  for (const char* spec : {"", " ", "+", "R+", "+V", "R++V", "R+ +V"}) {
    expect_refused(spec, AllOf(HasSubstr("empty"), HasSubstr("'" + std::string(spec) + "'")));
  }
}

TEST(Spec, with_a_member_named_twice_is_refused) {
  for (const char* spec : {"R+R", "R+random", "V+R+v"}) {
    expect_refused(spec, AllOf(HasSubstr("twice"), HasSubstr("'" + std::string(spec) + "'")));
  }
}

TEST(Spec, takes_the_options_of_its_members_once_and_weights_where_there_are_several) {
  auto names = [](const char* spec) {
    std::vector<std::string> all;
    for (const OptionInfo& option : options_of(parse_spec(spec))) all.push_back(option.name);
    return all;
  };
  EXPECT_THAT(names("V"), ElementsAre("query_bias"));
  EXPECT_THAT(names("R"), ElementsAre("init_std"));
  EXPECT_THAT(names("R+V"), ElementsAre("init_std", "query_bias", "weights"));
  EXPECT_THAT(names("R+FR"), ElementsAre("init_std", "rank", "weights"));
  EXPECT_THAT(names("D+FD"), ElementsAre("hidden", "share_heads", "a", "b", "tiling", "weights"));
}

TEST(Registry, lists_the_papers_variants_with_their_traits) {
  struct Line {
    const char *name, *abbreviation, *tokens, *sample;
    bool interacts;
    const char* parameters;
  };
  const Line lines[] = {{"vanilla", "V", "all", "local", true, "2d²"},
                        {"dense", "D", "own", "local", false, "d² + dN"},
                        {"random", "R", "none", "global", false, "hN²"},
                        {"fixed-random", "Fix", "none", "global", false, "0"},
                        {"factorized-random", "FR", "none", "global", false, "2hNk"},
                        {"factorized-dense", "FD", "own", "local", false, "d² + d(a+b)"}};
  ASSERT_EQ(variants().size(), std::size(lines));
  for (size_t i = 0; i < std::size(lines); ++i) {
    const Variant& variant = variants()[i];
    EXPECT_EQ(variant.name, lines[i].name);
    EXPECT_EQ(variant.abbreviation, lines[i].abbreviation);
    EXPECT_STREQ(variant.tokens_name(), lines[i].tokens);
    EXPECT_STREQ(variant.sample_name(), lines[i].sample);
    EXPECT_EQ(variant.interacts, lines[i].interacts);
    EXPECT_EQ(variant.parameters, lines[i].parameters);
    for (const OptionInfo& option : variant.options) {
      EXPECT_FALSE(option.allowed.empty()) << variant.name << " " << option.name;
      EXPECT_FALSE(option.help.empty()) << variant.name << " " << option.name;
    }
  }
}

TEST(Registry, refuses_a_name_that_is_taken) {
  Variant variant = find_variant("V");
  EXPECT_THAT([&] { add_variant(variant); }, ThrowsMessage<std::invalid_argument>(HasSubstr("'vanilla'")));
  variant.name = "another";
  EXPECT_THAT([&] { add_variant(variant); }, ThrowsMessage<std::invalid_argument>(HasSubstr("'V'")));
  EXPECT_EQ(variants().size(), 6u);
}

}  // namespace
}  // namespace synthesizer::testing
