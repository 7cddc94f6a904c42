// Runs made from others: tables as factors, and models for longer texts.

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include <cmath>

#include "base/error.h"
#include "inspect/convert.h"
#include "inspect/entry_usage.h"
#include "inspect/grow_run.h"
#include "inspect/tasks.h"
#include "model/positions.h"
#include "train/named_tensors.h"

namespace synthesizer {
namespace {

using testing::fields_of;
using ::testing::HasSubstr;
using testing::small_model;
using testing::small_task;

template <typename Call>
std::string complaint(Call call) {
  try {
    call();
  } catch (const InvalidInput& mistake) {
    return mistake.what();
  }
  return "no complaint";
}

double log_probability(Task& task, const std::string& text) {
  return task.log_probabilities({fields_of(task, text)}).front();
}

TEST(Convert, SpecsKeepTheirOtherMembers) {
  EXPECT_EQ(factorized_spec("R"), "FR");
  EXPECT_EQ(factorized_spec("random+vanilla"), "FR+V");
  EXPECT_EQ(factorized_spec("V+Fix"), "V+FR");
  EXPECT_EQ(factorized_spec("D"), "D");
  EXPECT_EQ(factorized_spec("light-conv:3"), "light-conv:3");
  EXPECT_THAT(complaint([] { factorized_spec("R+Fix"); }), HasSubstr("two random tables"));
}

TEST(Convert, AtFullRankTheModelSaysTheSame) {
  for (const char* attention : {"R", "Fix", "R+V", "D+R"}) {
    for (const char* name : {"language-model", "translation", "classification"}) {
      const auto task = small_task(name, small_model(attention));
      const Conversion made = factorize(*task, 12, nullptr);
      EXPECT_NEAR(log_probability(*made.task, "abc def"), log_probability(*task, "abc def"), 1e-3)
          << attention << " " << name;
      for (const ConvertedTable& table : made.tables) {
        ASSERT_EQ(table.errors.size(), 2u);
        for (const double error : table.errors) EXPECT_LT(error, 1e-3);
      }
    }
  }
}

TEST(Convert, TheRecipeSaysWhatTheModelIs) {
  ModelOptions model = small_model("R+V");
  model.decoder_attention = {"V", "R"};
  const auto task = small_task("translation", model);
  const Conversion made = factorize(*task, 2, nullptr);
  const ModelOptions& now = made.task->recipe().model;
  EXPECT_EQ(now.attention, (std::vector<std::string>{"FR+V"}));
  EXPECT_EQ(now.decoder_attention, (std::vector<std::string>{"V", "FR"}));
  EXPECT_EQ(now.attention_options.integer("rank", 0), 2);
  ASSERT_EQ(made.tables.size(), 3u);
  EXPECT_EQ(made.tables[2].layer, "decoder.layers.1");
  EXPECT_GT(made.tables[0].errors[0], 0.3);  // noise is of full rank
}

TEST(Convert, AFactorizedTableCanBeMadeSmallerOrLarger) {
  const auto task = small_task("classification", small_model("FR"));  // rank 8
  EXPECT_GT(factorize(*task, 2, nullptr).tables[0].errors[0], 0.05);
  const Conversion larger = factorize(*task, 9, nullptr);
  EXPECT_NEAR(log_probability(*larger.task, "abc"), log_probability(*task, "abc"), 1e-3);
  EXPECT_THAT(complaint([&] { factorize(*task, 8, nullptr); }), HasSubstr("nothing to convert"));
}

TEST(Convert, MistakesAreNamed) {
  const auto table = small_task("classification", small_model("R"));
  EXPECT_THAT(complaint([&] { factorize(*table, 0, nullptr); }), HasSubstr("--rank is 0"));
  EXPECT_THAT(complaint([&] { factorize(*table, 13, nullptr); }),
              HasSubstr("from 1 to the tables' length, 12"));
  const auto none = small_task("classification", small_model("V"));
  EXPECT_THAT(complaint([&] { factorize(*none, 2, nullptr); }), HasSubstr("nothing to convert"));
}

TEST(EntryUsage, WithoutTextsAllThatIsSeenCountsAlike) {
  const auto task = small_task("language-model", small_model("R"));
  EXPECT_TRUE(
      at::equal(entry_usage(*task, nullptr, Side::decoder, true), at::ones({12, 12}, at::kDouble).tril()));
  EXPECT_TRUE(at::equal(entry_usage(*task, nullptr, Side::decoder, false), at::ones({12, 12}, at::kDouble)));
}

/// Batches of texts of these lengths.
class Lengths : public Batches {
 public:
  explicit Lengths(std::vector<size_t> lengths) : lengths_(std::move(lengths)) {}
  int64_t per_epoch() const override { return static_cast<int64_t>(lengths_.size()); }
  Batch make(int64_t n) const override {
    const std::vector<int64_t> text(lengths_[static_cast<size_t>(n)], 3);
    Batch batch;
    batch.fields = {field_of({text}), field_of({text})};
    return batch;
  }
  std::string describe(const Batch&) const override { return ""; }

 private:
  std::vector<size_t> lengths_;
};

TEST(EntryUsage, EntriesCountByTheTextsThatReachThem) {
  const auto task = small_task("language-model", small_model("R"));
  Dataset split;
  split.batches = std::make_unique<Lengths>(std::vector<size_t>{2, 4, 4});
  const auto weight = entry_usage(*task, &split, Side::decoder, false);
  EXPECT_DOUBLE_EQ(weight[0][0].item<double>(), 1);
  EXPECT_DOUBLE_EQ(weight[1][3].item<double>(), 3.0 / 4);  // two texts, and the one of full length
  EXPECT_DOUBLE_EQ(weight[11][0].item<double>(), 1.0 / 4);
}

TEST(Grow, TextsOfTheOldLengthsAreTreatedAsBefore) {
  for (const ModelOptions& model : testing::kinds_of_models()) {
    for (const char* name : {"language-model", "translation", "classification"}) {
      if (!model.encoder_attention.empty() && std::string(name) != "translation") continue;
      const auto task = small_task(name, model);
      const auto larger = grown_task(*task, 20);
      SCOPED_TRACE(model.attention[0] + " " + choice_name(model.positions) + " " + name);
      EXPECT_EQ(larger->recipe().model.max_length, 20);
      for (const char* text : {"a", "abc def", "abcdefgh a"})
        EXPECT_NEAR(log_probability(*larger, text), log_probability(*task, text), 1e-4);
      EXPECT_TRUE(std::isfinite(log_probability(*larger, "abcdefgh abcdefgh")));
    }
  }
}

TEST(Grow, WhatIsNewStartsAsTrainingWouldStartIt) {
  ModelOptions model = small_model("V");
  model.positions = PositionKind::learned;
  const auto larger = grown_task(*small_task("classification", model), 20);
  for (const NamedTensor& one : saved_tensors(larger->model())) {
    if (one.name != "encoder.positions.weight") continue;
    EXPECT_TRUE(at::allclose(one.tensor, sinusoids(20, 16)));
  }
}

TEST(Grow, LimitsOfTheDataGrowWhereTheyWereTheModels) {
  Recipe recipe;
  recipe.task = "translation";
  recipe.model = small_model("R");
  recipe.data.max_length = 12;
  recipe.data.max_source_length = 5;
  const auto task = initial_task(recipe, testing::letters());
  const auto larger = grown_task(*task, 16);
  EXPECT_EQ(larger->recipe().data.max_length, 16);
  EXPECT_EQ(larger->recipe().data.max_source_length, 5);
}

TEST(Grow, MistakesAreNamed) {
  const auto task = small_task("classification", small_model("R"));
  EXPECT_THAT(complaint([&] { grown_task(*task, 12); }),
              HasSubstr("--max-length is 12, and the model has 12"));
  ModelOptions tiled = small_model("FD");
  tiled.attention_options.set("tiling", std::string("tile"));
  EXPECT_THAT(complaint([&] { grown_task(*small_task("classification", tiled), 20); }),
              HasSubstr("cannot grow"));
}

}  // namespace
}  // namespace synthesizer
