#include "report/paper.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "report/paper_tables.h"
#include "run/run_files.h"

namespace synthesizer::testing {
namespace {

using ::testing::HasSubstr;

double value_of(const char* where, const char* attention, const char* score) {
  const auto found = paper_figure(where, attention, {}, score);
  return found ? found->value : -1;
}

TEST(Paper, has_its_figures_by_data_set_and_by_task) {
  EXPECT_EQ(value_of("wmt14-en-de", "V", "bleu"), 27.67);
  EXPECT_EQ(value_of("WMT'14 English-French", "R+V", "bleu"), 41.85);
  EXPECT_EQ(value_of("translation", "R+V", "bleu"), 28.47) << "the first data set of the task";
  EXPECT_EQ(value_of("language-model", "D+V", "perplexity"), 37.27);
  EXPECT_EQ(value_of("wmt14-en-de-control", "V", "bleu"), 27.97) << "wider than the plain row";
  EXPECT_EQ(value_of("wmt14-en-fr-control", "V", "bleu"), 41.83);
  EXPECT_EQ(value_of("summarization", "R", "rouge2"), 14.92);
  EXPECT_EQ(value_of("summarization", "R", "rougeLsum"), 33.1) << "the paper's ROUGE-L is of whole summaries";
  EXPECT_EQ(value_of("summarization", "R", "rougeL"), -1);
  EXPECT_EQ(value_of("personachat", "D", "cider"), 20.54);
  EXPECT_EQ(value_of("glue", "R+V", "rte_accuracy"), 81.2);
  EXPECT_EQ(value_of("superglue", "V", "superglue"), 70.3);
  EXPECT_EQ(value_of("ag_news", "linformer", "accuracy"), 86.5);
  EXPECT_EQ(value_of("imdb", "FR+V", "accuracy"), 84.61);
  EXPECT_EQ(value_of("c4", "dynamic-conv:7", "log_perplexity"), 2.04);
}

double narang_of(const char* attention, const Settings& settings, const char* score = "log_perplexity") {
  const auto found = narang_figure("c4", attention, settings, score);
  return found ? found->value : -1;
}

TEST(Paper, a_later_study_has_rows_by_positions_and_weights) {
  const std::string positions = "model.positions", weights = "model.options.weights";
  EXPECT_EQ(narang_of("V", {{positions, "learned"}}), 1.865);
  EXPECT_EQ(narang_of("V", {{positions, "relative"}}), 1.838);
  EXPECT_EQ(narang_of("V", {{positions, "sinusoidal"}}), -1);
  EXPECT_EQ(narang_of("R+V", {{positions, "learned"}, {weights, "sum"}}), 1.849);
  EXPECT_EQ(narang_of("V+R", {{positions, "learned"}, {weights, "learned"}}), 1.856);
  EXPECT_EQ(narang_of("R+V", {{positions, "learned"}}), 1.856) << "learned is the default";
  EXPECT_EQ(narang_of("R+V", {{positions, "learned"}, {weights, "learned-per-head"}}), -1);
  EXPECT_EQ(narang_of("D+V", {{positions, "relative"}}, "parameters"), 243e6);
  EXPECT_EQ(narang_figure("superglue", "R+V", {{positions, "relative"}}, "superglue").value().value, 75.24);
  const auto found =
      narang_figure("span-corruption", "V", {{positions, "learned"}}, "log_perplexity").value();
  EXPECT_FALSE(found.checked);
  EXPECT_THAT(found.source, HasSubstr("2102.11972"));
}

TEST(Paper, a_recurrent_model_has_figures_of_its_own_or_none) {
  Settings settings = {
      {"model.positions", "relative"}, {"model.recurrent_depth", "0"}, {"model.halting_threshold", "0.0"}};
  EXPECT_EQ(narang_of("V", settings), 1.838);
  EXPECT_EQ(paper_figure("c4", "V", settings, "parameters").value().value, 223e6);
  settings[1].second = "24";
  settings[2].second = "0.5";
  EXPECT_EQ(narang_of("V", settings), 2.053) << "the Universal Transformer";
  EXPECT_EQ(narang_of("V", settings, "parameters"), 84e6);
  EXPECT_EQ(narang_of("R+V", settings), -1);
  EXPECT_FALSE(paper_figure("c4", "V", settings, "parameters"));
  EXPECT_FALSE(paper_figure("translation", "V", settings, "bleu"));
  settings[0].second = "learned";
  EXPECT_EQ(narang_of("V", settings), -1);
  settings = {{"model.positions", "relative"}, {"model.recurrent_depth", "6"}};
  EXPECT_EQ(narang_of("V", settings), -1);
}

// What the paper prints for C4 are the rows of the later study with learned positions and plain sums, the
// convolutions' losses aside.
TEST(Paper, prints_the_runs_of_the_later_study_with_learned_positions_and_sums) {
  const Settings settings = {{"model.positions", "learned"}, {"model.options.weights", "sum"}};
  for (const char* attention : {"V", "D", "R", "R+V", "D+V"}) {
    for (const char* score : {"log_perplexity", "steps_per_second", "parameters"})
      EXPECT_EQ(narang_of(attention, settings, score), value_of("c4", attention, score))
          << attention << score;
  }
  for (const char* attention : {"light-conv", "dynamic-conv"})
    EXPECT_EQ(narang_of(attention, settings, "parameters"), value_of("c4", attention, "parameters"));
}

TEST(Paper, counts_parameters_in_ones_not_in_millions) {
  EXPECT_EQ(value_of("lm1b", "R", "parameters"), 58e6);
}

TEST(Paper, knows_an_attention_however_it_is_spelt) {
  for (const char* spelt : {"R+V", "V+R", "r + v", "Random + Vanilla", "random+vanilla",
                            "Synthesizer (Random + Vanilla)", "vanilla+R"})
    EXPECT_EQ(value_of("wmt14-en-de", spelt, "bleu"), 28.47) << spelt;
  for (const char* spelt : {"Fix", "fixed-random", "Fixed Random"})
    EXPECT_EQ(value_of("wmt14-en-de", spelt, "bleu"), 23.89) << spelt;
  EXPECT_EQ(value_of("wmt14-en-de", "factorized-dense", "bleu"), 27.32);
  EXPECT_EQ(value_of("wmt14-en-de", "D+R", "bleu"), 27.68);
}

TEST(Paper, has_nothing_where_it_prints_nothing) {
  EXPECT_EQ(value_of("wmt14-en-de", "FR+D", "bleu"), -1);
  EXPECT_EQ(value_of("wmt14-en-de", "V", "chrf"), -1);
  EXPECT_EQ(value_of("multi30k", "V", "bleu"), -1);
  EXPECT_EQ(value_of("wmt14-en-de", "", "bleu"), -1);
  EXPECT_EQ(value_of("wmt14-en-de", "V, R", "bleu"), -1) << "layers that differ";
  EXPECT_EQ(value_of("wmt14-en-de", "encoder R, decoder V", "bleu"), -1);
}

TEST(Paper, says_where_a_figure_is_from_and_whether_it_was_checked) {
  const auto translation = paper_figure("translation", "V", {}, "bleu").value();
  EXPECT_TRUE(translation.checked);
  EXPECT_EQ(translation.data, "WMT'14 English-German");
  EXPECT_THAT(translation.source, HasSubstr("2005.00743"));
  EXPECT_FALSE(paper_figure("imdb", "V", {}, "accuracy").value().checked);
}

TEST(Paper, has_a_source_a_status_and_whole_rows_in_every_table) {
  const auto json = nlohmann::json::parse(kPaperTables);
  size_t figures = 0;
  std::set<std::string> attentions;
  for (const auto& table : json["tables"]) {
    EXPECT_FALSE(table["source"].get<std::string>().empty());
    EXPECT_TRUE(table["status"] == "checked" || table["status"] == "secondary") << table["name"];
    for (const auto& row : table["rows"]) {
      EXPECT_EQ(row["figures"].size(), table["columns"].size()) << table["name"] << row;
      for (const auto& figure : row["figures"]) figures += figure.is_number();
      attentions.insert(row["attention"]);
    }
  }
  EXPECT_EQ(figures, 261u);
  EXPECT_EQ(attentions.size(), 13u);
}

using PaperData = RunFiles;

TEST_F(PaperData, is_found_by_the_names_of_recipe_and_files) {
  RunRecord run = read_run(write_run("V", "\"V\""));
  EXPECT_EQ(paper_data(run), "WMT'14 English-German");
  run.provenance.command = {"synth", "train", "recipes/paper/superglue.toml"};
  EXPECT_EQ(paper_data(run), "SuperGLUE");
  run.provenance.command = {"synth", "train", "mine.toml"};
  EXPECT_EQ(paper_data(run), "");
  run.provenance.data = {{"/data/ag_news/train.tsv.gz", "aa"}};
  EXPECT_EQ(paper_data(run), "AG News");
  EXPECT_EQ(paper_data("recipes/paper/c4.toml"), "C4");
  EXPECT_EQ(paper_data("recipes/translation/wmt14-en-de-control.toml"), "WMT'14 English-German, control");
  EXPECT_EQ(paper_data("recipes/paper/en-mix.toml"), "GLUE") << "of the two that it learns, the first";
  EXPECT_EQ(paper_data("mine.toml"), "");
}

// "imdb-bytes" begins with the name of data that the paper has, and "listops" with none.
TEST_F(PaperData, of_the_long_range_arena_is_not_the_papers) {
  RunRecord run = read_run(write_run("V", "\"V\"", "classification"));
  run.provenance.data = {{"/data/imdb/train.tsv.gz", "aa"}};
  run.provenance.command = {"synth", "train", "recipes/small/imdb.toml"};
  EXPECT_EQ(paper_data(run), "IMDB");
  run.provenance.command = {"synth", "train", "recipes/lra/imdb-bytes.toml"};
  EXPECT_EQ(paper_data(run), "IMDB by bytes");
  run.provenance = {};
  run.provenance.command = {"synth", "train", "recipes/small/listops.toml"};
  EXPECT_EQ(paper_data(run), "ListOps");
  for (const char* data : {"IMDB by bytes", "ListOps"}) EXPECT_EQ(value_of(data, "V", "accuracy"), -1);
}

}  // namespace
}  // namespace synthesizer::testing
