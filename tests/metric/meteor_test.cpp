// METEOR against the numbers of NLTK 3.10.4, both with the same small WordNet.

#include "metric/meteor.h"

#include <gmock/gmock.h>

#include <set>

#include "base/error.h"
#include "metric/small_wordnet.h"

namespace synthesizer::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

class WordNetTest : public SmallWordNet {
 protected:
  std::set<std::string_view> synonyms(const std::string& word) const {
    const auto words = wordnet_.synonyms(word);
    return {words.begin(), words.end()};
  }
  WordNet wordnet_{folder_.string()};
};

TEST_F(WordNetTest, has_the_words_of_all_meanings_without_those_of_several_words) {
  EXPECT_THAT(synonyms("car"), ElementsAre("auto", "automobile", "car"));
  EXPECT_THAT(synonyms("auto"), ElementsAre("auto", "automobile", "car", "racer"));
  EXPECT_THAT(synonyms("go"), ElementsAre("go", "move", "travel", "try"));
  EXPECT_THAT(synonyms("nothing"), IsEmpty());
}

TEST_F(WordNetTest, finds_base_forms_by_exceptions_or_else_by_suffixes) {
  EXPECT_THAT(synonyms("autos"), ElementsAre("auto", "automobile", "car", "racer"));
  EXPECT_THAT(synonyms("men"), ElementsAre("man"));
  EXPECT_THAT(synonyms("went"), ElementsAre("go", "move", "travel"));
  EXPECT_THAT(synonyms("bigger"), ElementsAre("big", "large"));
  EXPECT_THAT(synonyms("mice"), IsEmpty());  // the mouse is not among its words
}

TEST_F(WordNetTest, keeps_capitals_and_drops_marks) {
  EXPECT_THAT(synonyms("paris"), ElementsAre("Paris", "capital"));
  EXPECT_THAT(synonyms("glad"), ElementsAre("content", "glad", "happy"));
}

TEST_F(WordNetTest, says_what_to_install_where_a_file_is_missing) {
  std::filesystem::remove(path("verb.exc"));
  EXPECT_THAT([&] { WordNet(folder_.string()); },
              ThrowsMessage<InvalidInput>(AllOf(HasSubstr(path("verb.exc")), HasSubstr("wordnet-base"),
                                                HasSubstr("./run setup"), HasSubstr("--wordnet"))));
}

TEST_F(WordNetTest, notices_files_that_do_not_belong_together) {
  write("data.adv", "  nothing of use\n");
  const WordNet damaged(folder_.string());
  EXPECT_THAT([&] { damaged.synonyms("fast"); },
              ThrowsMessage<InvalidInput>(AllOf(HasSubstr("data.adv"), HasSubstr("damaged"))));
}

struct MeteorCase {
  std::string hypothesis;
  Segments references;
  double score;
};

TEST_F(WordNetTest, meteor_agrees_with_nltk) {
  const MeteorCase cases[] = {
      {"It is a guide to action which ensures that the military always obeys the commands of the party",
       {"It is a guide to action that ensures that the military will forever heed Party commands"},
       69.44444444444446},
      {"the car went fast", {"the auto will travel quick"}, 76.53061224489797},
      {"he ran bigger machines", {"he run large machine"}, 63.888888888888886},
      {"big men try racers", {"large man attempt auto"}, 25.0},
      {"the the cat", {"cat the cat the"}, 38.46153846153847},
      {"a b c d e", {"e d c b a"}, 50.0},
      {"glad to be in Paris", {"content to be in capital", "happy to be in the capital"}, 79.37500000000001},
      {"auto", {"car racer"}, 26.31578947368421},
      {"Étude calmer", {"étude calm"}, 93.75},
      {"", {"a"}, 0.0},
      {"a", {""}, 0.0},
      {"non matching", {"this is a cat"}, 0.0},
      {"cat", {"cat"}, 50.0},
  };
  for (const MeteorCase& one : cases) {
    References sets;
    for (const std::string& reference : one.references) sets.push_back({reference});
    EXPECT_NEAR(meteor({one.hypothesis}, sets, wordnet_), one.score, 1e-9) << one.hypothesis;
  }
  EXPECT_NEAR(meteor({cases[0].hypothesis, cases[1].hypothesis},
                     {{cases[0].references[0], cases[1].references[0]}}, wordnet_),
              (cases[0].score + cases[1].score) / 2, 1e-9);
}

}  // namespace
}  // namespace synthesizer::testing
