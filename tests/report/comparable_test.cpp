#include "report/comparable.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "run/run_files.h"

namespace synthesizer::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

class Comparison : public RunFiles {
 protected:
  std::string message_of(const RunRecord& one, const RunRecord& other) const {
    try {
      check_comparable({&one, &one, &other});
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(Comparison, takes_runs_of_the_same_data_wherever_they_lie) {
  const RunRecord one = read_run(write_run("V", "\"V\"")), other = read_run(write_run("R", "\"R\""));
  EXPECT_NO_THROW(check_comparable({&one, &other}));
}

TEST_F(Comparison, names_runs_of_different_tasks) {
  const RunRecord one = read_run(write_run("V", "\"V\"")),
                  other = read_run(write_run("R", "\"R\"", "dialogue"));
  EXPECT_THAT(message_of(one, other), AllOf(HasSubstr("/V is a run of task translation and"),
                                            HasSubstr("/R of task dialogue"), Not(HasSubstr("\n"))));
}

TEST_F(Comparison, names_runs_and_files_of_different_data) {
  const RunRecord one = read_run(write_run("V", "\"V\"")),
                  other = read_run(write_run("R", "\"R\"", "translation", "cc"));
  EXPECT_THAT(message_of(one, other),
              AllOf(HasSubstr("/V and "), HasSubstr("/R were trained on different data"),
                    HasSubstr("their a.en differ in contents")));
  RunRecord less = one;
  less.provenance.data.erase("/there/a.de");
  EXPECT_THAT(message_of(one, less), AllOf(HasSubstr("/V has a.de"), HasSubstr("has nothing else")));
}

TEST_F(Comparison, parts_settings_that_differ_from_those_that_are_shared) {
  const RunRecord one = read_run(write_run("V", "\"V\"")),
                  other = read_run(write_run("R", "\"R\"", "translation", "aa", "pooling = \"mean\"\n"));
  const auto compared = compare_settings({&one.settings, &other.settings});
  EXPECT_THAT(compared.differ, ElementsAre(Pair("model.attention", ElementsAre("V", "R")),
                                           Pair("model.pooling", ElementsAre("", "mean"))));
  EXPECT_THAT(
      compared.shared,
      ElementsAre(Pair("task", "translation"), Pair("seed", "1"), Pair("data.train", R"(["a.en", "a.de"])"),
                  Pair("model.encoder_attention", "[]"), Pair("model.decoder_attention", "[]"),
                  Pair("model.width", "128"), Pair("train.steps", "20"), Pair("train.watch", "loss"),
                  Pair("train.patience", "0")));
}

TEST_F(Comparison, holds_a_setting_that_is_empty_apart_from_one_that_is_missing) {
  const Settings with = {{"a", ""}, {"b", "1"}}, without = {{"b", "1"}};
  EXPECT_THAT(compare_settings({&with, &without}).differ, ElementsAre(Pair("a", ElementsAre("", ""))));
}

TEST_F(Comparison, labels_runs_by_attention_and_by_what_else_differs) {
  RunRecord v = read_run(write_run("a", "\"V\"")), first = read_run(write_run("b", "\"R\"")), second = first,
            again = first;
  second.settings[1].second = "2";  // the seed
  EXPECT_THAT(labels_of({&v, &first, &second}), ElementsAre("V", "R, seed 1", "R, seed 2"));
  again.settings.emplace_back("model.options.rank", "8");
  EXPECT_THAT(labels_of({&first, &again}), ElementsAre("R", "R, rank 8"));
  again = first;
  again.name = "c";
  EXPECT_THAT(labels_of({&first, &again}), ElementsAre("R, b", "R, c"));
  again.name = first.name;
  again.path = "there/b";
  EXPECT_THAT(labels_of({&first, &again}), ElementsAre("R, " + first.path, "R, there/b"));
  again.name = "c";
  for (const char* key : {"a", "b", "c", "d"}) again.settings.emplace_back(key, "1");
  EXPECT_THAT(labels_of({&first, &again}), ElementsAre("R, b", "R, c")) << "too much to read";
}

}  // namespace
}  // namespace synthesizer::testing
