// BLEU: counts, sums, single sentences, signatures, mistakes. Its scores: bleu_scores_test.cpp.

#include "metric/bleu.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "metric/bleu_of.h"
#include "metric/text_cases.h"
#include "metric/tolerance.h"

namespace synthesizer::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Bleu, takes_the_shorter_of_two_references_as_close) {
  for (const char* name : {"closest_length_of_two", "closest_length_the_other_way"}) {
    EXPECT_EQ(bleu_of(name).counts.reference_length, 3) << name;
  }
}

TEST(Bleu, clips_counts_at_the_most_of_any_reference) {
  const Bleu result = bleu({"a a a b b"}, {{"a a"}, {"b a"}});
  EXPECT_THAT(result.counts.matches, ElementsAre(3, 1, 0, 0));
  EXPECT_THAT(result.counts.totals, ElementsAre(5, 4, 3, 2));
}

TEST(Bleu, keeps_counts_as_they_were_where_smoothing_adds_to_them) {
  BleuOptions options;
  options.smoothing = BleuSmoothing::add_k;
  EXPECT_THAT(bleu_of("one_word", options).counts.totals, ElementsAre(1, 0, 0, 0));
}

TEST(Bleu, is_the_score_of_the_summed_counts) {
  const TextCase& texts = text_case("three_references");
  const auto segments = bleu_counts(texts.hypotheses, texts.references);
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[0].hypothesis_length, 7);
  EXPECT_EQ(segments[1].hypothesis_length, 3);
  BleuCounts sum = segments[1];
  sum += segments[0];
  EXPECT_EQ(bleu_from(sum).score, bleu_of("three_references").score);
}

TEST(Bleu, of_segments_does_not_depend_on_their_neighbours) {
  const Segments hypotheses = {"a b c d", "", "b c d a b c", "x y"};
  const References references = {{"a b c d e", "x", "b c d", "x y z"}};
  const auto together = bleu_counts(hypotheses, references);
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const BleuCounts alone = bleu_counts({hypotheses[i]}, {{references[0][i]}}).front();
    EXPECT_EQ(together[i].matches, alone.matches) << i;
    EXPECT_EQ(together[i].totals, alone.totals) << i;
    EXPECT_EQ(together[i].reference_length, alone.reference_length) << i;
  }
}

TEST(Bleu, of_no_counts_at_all_is_zero) {
  EXPECT_EQ(bleu_from({}).score, 0);
  EXPECT_EQ(bleu_from({}).ratio, 0);
}

TEST(Bleu, counts_a_segment_longer_than_its_tables) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i) + " ";
  const Bleu result = bleu({text, "a b c d"}, {{text, "a b c d"}});
  EXPECT_THAT(result.counts.matches, ElementsAre(5004, 5002, 5000, 4998));
  EXPECT_NEAR(result.score, 100, kTolerance);
}

TEST(SentenceBleu, leaves_out_orders_the_sentence_has_not) {
  EXPECT_NEAR(sentence_bleu("the cat", {"the cat sat"}).score, 60.6530659712634, kTolerance);
  EXPECT_NEAR(sentence_bleu("cat", {"dog", "cat"}).score, 100, kTolerance);
  EXPECT_EQ(sentence_bleu("", {"a"}).score, 0);
}

TEST(BleuSignature, is_the_one_sacrebleu_prints) {
  EXPECT_EQ(bleu_signature({}, 1), "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.4.3");
  BleuOptions options{BleuTokenizer::international, true, BleuSmoothing::floor, {}, true};
  EXPECT_EQ(bleu_signature(options, 3), "nrefs:3|case:lc|eff:yes|tok:intl|smooth:floor[0.10]|version:2.4.3");
  options = {BleuTokenizer::characters, false, BleuSmoothing::add_k, {}, false};
  EXPECT_EQ(bleu_signature(options, 1),
            "nrefs:1|case:mixed|eff:no|tok:char|smooth:add-k[1.00]|version:2.4.3");
  options = {BleuTokenizer::none, false, BleuSmoothing::add_k, 2.5, false};
  EXPECT_EQ(bleu_signature(options, 1),
            "nrefs:1|case:mixed|eff:no|tok:none|smooth:add-k[2.50]|version:2.4.3");
  options.smoothing = BleuSmoothing::none;
  EXPECT_EQ(bleu_signature(options, 1), "nrefs:1|case:mixed|eff:no|tok:none|smooth:none|version:2.4.3");
}

TEST(Bleu, refuses_texts_that_do_not_fit) {
  EXPECT_THAT([] { bleu({}, {{}}); }, ThrowsMessage<InvalidInput>(HasSubstr("no hypotheses")));
  EXPECT_THAT([] { bleu({"a"}, {}); }, ThrowsMessage<InvalidInput>(HasSubstr("no references")));
  EXPECT_THAT(
      [] {
        bleu({"a"}, {{"a"}, {"a", "b"}});
      },
      ThrowsMessage<InvalidInput>(HasSubstr("1 hypotheses but 2 segments in reference 2")));
}

TEST(Bleu, smoothings_have_names) {
  for (const std::string& name : bleu_smoothing_names()) {
    EXPECT_EQ(bleu_smoothing_names()[static_cast<size_t>(bleu_smoothing(name))], name);
  }
  EXPECT_THAT([] { bleu_smoothing("flor"); },
              ThrowsMessage<InvalidInput>(HasSubstr("did you mean 'floor'?")));
}

}  // namespace
}  // namespace synthesizer::testing
