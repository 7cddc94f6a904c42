// The weights that are shown are those of the layers themselves, in every family of models.

#include "inspect/capture_attention.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include <cmath>

#include "base/error.h"
#include "inspect/tables.h"
#include "inspect/tasks.h"
#include "model/forward_hook.h"
#include "model/layers_of.h"

namespace synthesizer {
namespace {

using testing::fields_of;
using ::testing::HasSubstr;
using testing::small_model;
using testing::small_task;

std::vector<CapturedLayer> captured(Task& task, const std::string& text = "abc def") {
  return capture_attention(task, task.batch_of(fields_of(task, text)));
}

std::vector<std::string> titles(const std::vector<CapturedLayer>& layers) {
  std::vector<std::string> all;
  for (const CapturedLayer& layer : layers) all.push_back(layer.title());
  return all;
}

void expect_rows_to_sum_to_one(const WeightMap& map) {
  for (int64_t i = 0; i < map.rows; ++i) {
    double sum = 0, hidden = 0;
    for (int64_t j = 0; j < map.columns; ++j) (j < map.visible(i) ? sum : hidden) += map.at(i, j);
    EXPECT_NEAR(sum, 1, 1e-5);
    EXPECT_EQ(hidden, 0);
  }
}

TEST(CaptureAttention, EveryAttentionOfEveryKindOfModelIsThere) {
  for (const ModelOptions& model : testing::kinds_of_models()) {
    const auto task = small_task("translation", model);
    for (const CapturedLayer& layer : captured(*task)) {
      SCOPED_TRACE(layer.title() + " " + layer.attention);
      const bool baseline = layer.attention.find("conv") != layer.attention.npos ||
                            layer.attention.find("linformer") != layer.attention.npos;
      EXPECT_EQ(layer.heads.size(), baseline ? 0 : static_cast<size_t>(model.heads));
      for (const WeightMap& map : layer.heads) {
        EXPECT_EQ(map.rows, 8);  // "abc def" and the end, or the begin and "bad cab"
        expect_rows_to_sum_to_one(map);
      }
    }
  }
}

TEST(CaptureAttention, StacksComeOneAfterAnother) {
  const auto task = small_task("translation", small_model("V"));
  EXPECT_THAT(titles(captured(*task)),
              ::testing::ElementsAre("encoder layer 1", "encoder layer 2", "decoder layer 1",
                                     "decoder layer 2", "cross layer 1", "cross layer 2"));
  EXPECT_THAT(titles(captured(*small_task("classification", small_model("V")))),
              ::testing::ElementsAre("encoder layer 1", "encoder layer 2"));
  EXPECT_THAT(titles(captured(*small_task("language-model", small_model("V")))),
              ::testing::ElementsAre("decoder layer 1", "decoder layer 2"));
}

TEST(CaptureAttention, ALayerAppliedOftenIsSeenAsOften) {
  ModelOptions model = small_model("R+V");
  model.recurrent_depth = 3;
  const auto layers = captured(*small_task("language-model", model));
  ASSERT_EQ(layers.size(), 3u);
  for (const CapturedLayer& layer : layers) EXPECT_EQ(layer.layer, "decoder.layers.0");
  EXPECT_NE(layers[0].heads[0].weights, layers[2].heads[0].weights);  // V has moved on
}

TEST(CaptureAttention, WeightsOfATableAreItsSoftmax) {
  const auto task = small_task("language-model", small_model("R"));
  const auto layers = captured(*task, "abcd");
  const auto tables = random_tables(task->model(), nullptr, 12);
  ASSERT_EQ(tables.size(), 2u);
  for (size_t l = 0; l < 2; ++l) {
    for (size_t h = 0; h < 2; ++h) {
      const WeightMap& map = layers[l].heads[h];
      ASSERT_EQ(map.rows, 5);
      for (int64_t i = 0; i < map.rows; ++i) {
        double sum = 0;
        auto power = [&](int64_t j) {
          return std::exp(tables[l].heads[h].end[static_cast<size_t>(i * tables[l].shown + j)]);
        };
        for (int64_t j = 0; j <= i; ++j) sum += power(j);
        for (int64_t j = 0; j <= i; ++j) EXPECT_NEAR(map.at(i, j), power(j) / sum, 1e-5);
      }
    }
  }
}

TEST(CaptureAttention, WeightsAreThoseTheLayerItselfGives) {
  ModelOptions model = small_model("D+V");
  model.norm_place = NormPlace::post;  // the first attention reads the embedded text as it is
  const auto task = small_task("classification", model);
  const Batch example = task->batch_of({"abc", "good"});
  at::Tensor embedded;
  {
    const ScopedForwardHook hook([&](const std::string& name, const at::Tensor& output) {
      if (name == "encoder.embedded") embedded = output;
    });
    task->loss(example);
  }
  const auto own = layers_of(task->model())[0].second->attention()->weights(embedded);
  const auto layers = capture_attention(*task, example);
  for (int64_t h = 0; h < 2; ++h) {
    const WeightMap& map = layers[0].heads[static_cast<size_t>(h)];
    const auto shown = at::tensor(map.weights).view({map.rows, map.columns});
    EXPECT_TRUE(at::equal(shown, own[0][h]));
  }
}

TEST(CaptureAttention, LookingChangesNoResult) {
  const auto task = small_task("translation", small_model("R+V"));
  const Batch example = task->batch_of({"abc", "bad"});
  const double before = task->loss(example).nll;
  captured(*task);
  EXPECT_EQ(task->loss(example).nll, before);
}

TEST(CaptureAttention, TokensReadAsTheirPieces) {
  const auto task = small_task("translation", small_model("V"));
  const auto sides = tokens_of(*task, task->batch_of({"a b", "h"}));
  ASSERT_EQ(sides.size(), 2u);
  EXPECT_THAT(sides[0].pieces, ::testing::ElementsAre("a", "␣", "b", "</s>"));
  EXPECT_THAT(sides[1].pieces, ::testing::ElementsAre("<s>", "h"));
}

TEST(CaptureAttention, OneRowOfABatchIsWithoutPadding) {
  Batch batch;
  batch.fields = {field_of({{1, 2, 3}, {4}}), field_of({{7}, {8, 9}})};
  const Batch second = single_row(batch, 1);
  EXPECT_EQ(second.fields[0].ids, (std::vector<int64_t>{4}));
  EXPECT_EQ(second.fields[1].ids, (std::vector<int64_t>{8, 9}));
  EXPECT_EQ(single_row(batch, 0, 2).fields[0].ids, (std::vector<int64_t>{1, 2}));
}

TEST(CaptureAttention, TextsThatCannotBeLookedAtAreSaidToBeSo) {
  auto complaint = [](const char* name, const std::string& text, const std::string& target) -> std::string {
    try {
      const auto task = small_task(name, small_model("V"));
      example_of(*task, text, target);
    } catch (const InvalidInput& mistake) {
      return mistake.what();
    }
    return "no complaint";
  };
  EXPECT_THAT(complaint("language-model", " \n", ""), HasSubstr("--text is empty"));
  EXPECT_THAT(complaint("language-model", "\xff", ""), HasSubstr("not UTF-8"));
  EXPECT_THAT(complaint("language-model", "abcdefghabcdefgh", ""),
              HasSubstr("16 tokens, and the model takes 11"));
  EXPECT_THAT(complaint("translation", "abcdefghabcdefgh", ""), HasSubstr("the source has 16 tokens"));
  EXPECT_THAT(complaint("translation", "abc", "abcdefghabcdefgh"), HasSubstr("the target has 16 tokens"));
  EXPECT_THAT(complaint("classification", "abc", "bad"), HasSubstr("--target"));
}

TEST(CaptureAttention, WithoutATargetItIsWhatTheModelWrites) {
  const auto task = small_task("translation", small_model("R"));
  const GivenText given = example_of(*task, "abc", "");
  DecodeOptions greedy;
  greedy.beam = 1;
  std::vector<std::string> remarks;
  EXPECT_EQ(given.target, dynamic_cast<Translator&>(*task)
                              .translate({"abc"}, greedy, 100, LongLine::truncate, 1, remarks)[0][0]
                              .text);
  EXPECT_EQ(example_of(*task, "abc", "bad").target, "bad");
}

}  // namespace
}  // namespace synthesizer
