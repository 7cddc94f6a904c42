// Tables: their spectra, and how far they moved from where training began.

#include "inspect/tables.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include <cmath>

#include "inspect/tasks.h"
#include "model/layers_of.h"

namespace synthesizer {
namespace {

using testing::small_model;
using testing::small_task;

at::Tensor parameter(Task& task, const std::string& name) {
  for (const auto& item : task.model().named_parameters()) {
    if (item.key() == name) return item.value();
  }
  return {};
}

TEST(RandomTables, EveryMemberThatLooksAtNoTokenHasOne) {
  ModelOptions model = small_model();
  model.encoder_attention = {"R+V", "light-conv:3"};
  model.decoder_attention = {"Fix", "FR+D"};
  const auto task = small_task("translation", model);
  const auto tables = random_tables(task->model(), nullptr, 5);
  ASSERT_EQ(tables.size(), 3u);
  EXPECT_EQ(tables[0].layer + tables[0].member, "encoder.layers.0R");
  EXPECT_EQ(tables[1].layer + tables[1].member, "decoder.layers.0Fix");
  EXPECT_EQ(tables[2].layer + tables[2].member, "decoder.layers.1FR");
  EXPECT_FALSE(tables[0].causal);
  EXPECT_TRUE(tables[1].causal);
  for (const RandomTable& table : tables) {
    EXPECT_EQ(table.length, 12);
    EXPECT_EQ(table.shown, 5);
    ASSERT_EQ(table.heads.size(), 2u);
    EXPECT_EQ(table.heads[0].end.size(), 25u);
    EXPECT_TRUE(table.heads[0].start.empty());
    EXPECT_FALSE(table.heads[0].moved);
    EXPECT_FALSE(table.heads[0].change);
  }
}

TEST(RandomTables, SingularValuesAreThoseOfWhatIsSeen) {
  const auto task = small_task("language-model", small_model("R"));
  const auto table = parameter(*task, "decoder.layers.1.attention.logits.R.table").detach();
  const auto wanted = at::linalg_svdvals(table[1].to(at::kDouble).tril());
  const auto found = random_tables(task->model(), nullptr, 12)[1].heads[1].spectrum.values;
  for (size_t n = 0; n < found.size(); ++n)
    EXPECT_NEAR(found[n], wanted[static_cast<int64_t>(n)].item<double>(), 1e-9);
}

TEST(RandomTables, AFactorizedTableHasNoMoreThanItsRank) {
  ModelOptions model = small_model("FR");
  model.attention_options.set("rank", int64_t{3});
  const auto task = small_task("classification", model);
  EXPECT_EQ(random_tables(task->model(), nullptr, 4)[0].heads[0].spectrum.holding(1 - 1e-9), 3);
}

TEST(RandomTables, TheStartIsMadeAgainFromTheSeed) {
  const auto task = small_task("translation", small_model("R+V"));
  const auto start = small_task("translation", small_model("R+V"));
  for (const RandomTable& table : random_tables(task->model(), &start->model(), 4)) {
    for (const TableHead& head : table.heads) {
      EXPECT_EQ(head.moved, 0.0);
      EXPECT_EQ(head.start, head.end);
    }
  }
}

TEST(RandomTables, MovedIsTheLengthOfTheWayAsAShareOfTheStart) {
  c10::NoGradGuard no_grad;
  const auto task = small_task("classification", small_model("R"));
  const auto start = small_task("classification", small_model("R"));
  parameter(*task, "encoder.layers.0.attention.logits.R.table").mul_(1.5);
  const auto tables = random_tables(task->model(), &start->model(), 4);
  EXPECT_NEAR(*tables[0].heads[0].moved, 0.5, 1e-6);
  EXPECT_EQ(*tables[1].heads[0].moved, 0);
}

TEST(RandomTables, ChangeIsTheWayOfAnEntryAndNeedsNoStartOtherThanZero) {
  c10::NoGradGuard no_grad;
  const auto task = small_task("language-model", small_model("R"));
  const auto start = small_task("language-model", small_model("R"));
  const std::string name = "decoder.layers.0.attention.logits.R.table";
  parameter(*start, name).zero_();
  parameter(*task, name).fill_(-0.25);
  const TableHead head = random_tables(task->model(), &start->model(), 4)[0].heads[0];
  EXPECT_FALSE(head.moved) << "there is no share of nothing";
  EXPECT_NEAR(*head.change, 0.25, 1e-6) << "of the entries that a causal layer sees";
}

TEST(RandomTables, WhatACausalLayerNeverSeesDoesNotMove) {
  c10::NoGradGuard no_grad;
  const auto task = small_task("language-model", small_model("R"));
  const auto start = small_task("language-model", small_model("R"));
  const auto table = parameter(*task, "decoder.layers.0.attention.logits.R.table");
  table.add_(at::ones({12, 12}).triu(1) * 100);
  EXPECT_EQ(random_tables(task->model(), &start->model(), 4)[0].heads[0].moved, 0.0);
}

TEST(MixtureShares, AreThoseOfEachLayerThatLearnsThem) {
  c10::NoGradGuard no_grad;
  ModelOptions model = small_model();
  model.attention = {"R+V", "D"};
  const auto task = small_task("classification", model);
  parameter(*task, "encoder.layers.0.attention.logits.mixture").copy_(at::tensor({0.0f, std::log(3.0f)}));
  const auto all = mixture_shares_of(task->model());
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].layer, "encoder.layers.0");
  EXPECT_EQ(all[0].members, (std::vector<std::string>{"R", "V"}));
  ASSERT_EQ(all[0].shares.size(), 1u);
  EXPECT_NEAR(all[0].shares[0][0], 0.25, 1e-6);
  EXPECT_NEAR(all[0].shares[0][1], 0.75, 1e-6);
}

TEST(MixtureShares, HaveARowAHeadWhereHeadsLearnTheirOwn) {
  ModelOptions model = small_model("R+V+D");
  model.attention_options.set("weights", std::string("learned-per-head"));
  const auto all = mixture_shares_of(small_task("classification", model)->model());
  ASSERT_EQ(all.size(), 2u);
  ASSERT_EQ(all[0].shares.size(), 2u);
  EXPECT_NEAR(all[0].shares[1][2], 1.0 / 3, 1e-6);
  model.attention_options.set("weights", std::string("sum"));
  EXPECT_TRUE(mixture_shares_of(small_task("classification", model)->model()).empty());
}

}  // namespace
}  // namespace synthesizer
