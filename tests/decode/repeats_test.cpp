// No n-gram twice: against a plain look at the outputs, for greedy and beam search.

#include "decode/repeats.h"

#include <set>

#include "decode/beam.h"
#include "decode/greedy.h"
#include "decode/logits.h"
#include "decode/markov_model.h"

namespace synthesizer::testing {
namespace {

bool repeats(const std::vector<int64_t>& tokens, size_t n) {
  std::set<std::vector<int64_t>> seen;
  for (size_t i = 0; i + n <= tokens.size(); ++i) {
    if (!seen.insert({tokens.begin() + static_cast<int64_t>(i), tokens.begin() + static_cast<int64_t>(i + n)})
             .second)
      return true;
  }
  return false;
}

TEST(Repeats, ForbidWhatWouldRepeat) {
  const auto possible = at::zeros({3, 6});
  const std::vector<int64_t> a{1, 2, 3, 1, 2}, b{4}, c{5, 5};
  forbid_repeats(possible, {&a, &b, &c}, 3);
  EXPECT_EQ(possible[0][3].item<float>(), never);
  EXPECT_EQ(possible.isinf().sum().item<int64_t>(), 1);
  const auto pairs = at::zeros({1, 6});
  forbid_repeats(pairs, {&c}, 2);
  EXPECT_EQ(pairs[0][5].item<float>(), never);
  const auto singles = at::zeros({1, 6});
  forbid_repeats(singles, {&a}, 1);
  EXPECT_EQ(singles.isinf().sum().item<int64_t>(), 3);  // 1, 2 and 3
}

TEST(Repeats, OfZeroForbidNothing) {
  const auto possible = at::zeros({1, 3});
  const std::vector<int64_t> a{1, 1, 1};
  forbid_repeats(possible, {&a}, 0);
  EXPECT_TRUE(at::equal(possible, at::zeros({1, 3})));
}

TEST(Repeats, NeverOccurInWhatIsWritten) {
  const std::vector<int64_t> limits{30, 30, 30};
  for (int64_t n = 1; n <= 3; ++n) {
    bool without = false;  // the tables do repeat when they may
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      const auto tables = random_tables(3, 5, seed);
      for (const int64_t beam : {1, 4}) {
        auto write = [&](int64_t ngram) {
          MarkovModel model(tables);
          const DecodeOptions options{.beam = beam, .min_length = 12, .no_repeat_ngram = ngram};
          return (beam == 1 ? greedy_search : beam_search)(model, kOtherBegin, kEnd, limits, options);
        };
        for (const auto& best : write(n)) EXPECT_FALSE(repeats(best[0].tokens, static_cast<size_t>(n)));
        for (const auto& best : write(0))
          without = without || repeats(best[0].tokens, static_cast<size_t>(n));
      }
    }
    EXPECT_TRUE(without);
  }
}

}  // namespace
}  // namespace synthesizer::testing
