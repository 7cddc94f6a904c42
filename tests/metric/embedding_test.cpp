// Scores by vectors of words. Expected are the numbers of nlg-eval's formulas with NumPy in double precision.

#include "metric/embedding.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "metric/tolerance.h"
#include "text/folder_test.h"

namespace synthesizer::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

const char* const kVectors =
    "cat 1 0 0.5\n"
    "dog 0.8 0.6 -0.25\n"
    "sat 0 -1 0.125\n"
    "mat -0.5 0.25 0.75\n"
    "the 0.25 0.25 0.25\n"
    "zero 0 0 0\n";
const std::vector<std::string_view> kWords = {"cat", "dog", "sat", "mat", "the", "unseen"};

class VectorsTest : public FolderTest {
 protected:
  WordVectors read(const std::string& text, const std::vector<std::string_view>& words = kWords) const {
    return WordVectors(write("vectors", text), words);
  }
  template <class... Words>
  void expect_refused(const std::string& text, const Words&... words) const {
    EXPECT_THAT([&] { read(text); }, ThrowsMessage<InvalidInput>(AllOf(HasSubstr(words)...)));
  }
};

TEST_F(VectorsTest, are_those_of_the_words_asked_for) {
  const WordVectors vectors = read(kVectors, {"dog", "unseen"});
  EXPECT_EQ(vectors.width(), 3u);
  EXPECT_THAT(vectors.find("dog"), ElementsAre(0.8f, 0.6f, -0.25f));
  EXPECT_THAT(vectors.find("unseen"), IsEmpty());
  EXPECT_THAT(vectors.find("cat"), IsEmpty());
}

TEST_F(VectorsTest, may_have_a_first_line_and_spaces_at_the_ends) {
  const WordVectors vectors = read("2 3\ncat 1 2 3 \n\ndog\t4 5 6 \n");
  EXPECT_THAT(vectors.find("dog"), ElementsAre(4, 5, 6));
  EXPECT_THAT(vectors.mean(), ElementsAre(2.5, 3.5, 4.5));
}

TEST_F(VectorsTest, of_words_with_spaces_count_for_the_mean_alone) {
  const WordVectors vectors = read("cat 1 2\ndog . 3 4\ncat 5 6\n");
  EXPECT_THAT(vectors.find("cat"), ElementsAre(1, 2));
  EXPECT_THAT(vectors.find("dog"), IsEmpty());
  EXPECT_THAT(vectors.mean(), ElementsAre(3, 4));
}

TEST_F(VectorsTest, that_are_none_are_refused_with_the_line) {
  expect_refused("cat 1 2 3\ndog 1 2\n", "vectors:2:", "2 numbers, but 3 in line 1");
  expect_refused("cat 1 2 3\ndog 1 2 3 4\n", "vectors:2:", "4 numbers, but 3 in line 1");
  expect_refused("2 3\ncat 1 2\n", "vectors:2:", "2 numbers, but 3 in line 1");
  expect_refused("cat 1 2 3\ndog 1 two 3\n", "vectors:2:", "'two' is not a number");
  expect_refused("cat 1 nan 3\n", "vectors:1:", "'nan' is not a number");
  expect_refused("cat\n", "vectors:1:", "0 numbers");
  expect_refused("", "none of the 6 words");
  expect_refused("Katze 1 2\n", "none of the 6 words");
}

const Segments kHypotheses = {"the cat sat", "the dog", "unseen mat sat"};
const Segments kFirstReferences = {"the dog sat", "cat mat", "mat strange words"};
const Segments kSecondReferences = {"mat", "dog the dog", "sat sat sat"};

TEST_F(VectorsTest, score_texts_as_nlg_eval_does) {
  const WordVectors vectors = read(kVectors);
  const Embedding one = embedding(kHypotheses, {kFirstReferences}, vectors);
  EXPECT_NEAR(one.average, 63.828116888488, kTolerance);
  EXPECT_NEAR(one.extrema, 56.042964210281, kTolerance);
  EXPECT_NEAR(one.greedy, 78.435416465563, kTolerance);
  const Embedding two = embedding(kHypotheses, {kFirstReferences, kSecondReferences}, vectors);
  EXPECT_NEAR(two.average, 83.680886777562, kTolerance);
  EXPECT_NEAR(two.extrema, 85.513337394961, kTolerance);
  EXPECT_NEAR(two.greedy, 91.406147534575, kTolerance);
}

TEST_F(VectorsTest, of_unknown_words_can_be_left_out) {
  const WordVectors vectors = read(kVectors);
  const Embedding all = embedding({"unseen cat"}, {{"dog"}}, vectors, UnknownWords::skip);
  const Embedding known = embedding({"cat"}, {{"dog"}}, vectors);
  EXPECT_EQ(all.average, known.average);
  EXPECT_EQ(all.extrema, known.extrema);
  EXPECT_EQ(all.greedy, known.greedy);
}

TEST_F(VectorsTest, of_nothing_are_near_nothing) {
  const WordVectors vectors = read(kVectors);
  for (const Segments& pair : {Segments{"", "cat"}, {"cat", ""}, {"", ""}, {"zero", "cat"}}) {
    const Embedding found = embedding({pair[0]}, {{pair[1]}}, vectors, UnknownWords::skip);
    EXPECT_EQ(found.average, 0) << pair[0] << "|" << pair[1];
    EXPECT_EQ(found.extrema, 0);
    EXPECT_EQ(found.greedy, 0);
  }
  EXPECT_NEAR(embedding({"cat"}, {{""}, {"cat"}}, vectors).greedy, 100, kTolerance);
}

TEST(EmbeddingMetric, needs_vectors) {
  EXPECT_THAT([] { score(embedding_metric(), {"cat"}, {{"cat"}}); },
              ThrowsMessage<InvalidInput>(HasSubstr("needs the option vectors")));
}

}  // namespace
}  // namespace synthesizer::testing
