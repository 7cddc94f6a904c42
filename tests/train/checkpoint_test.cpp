// Weights and states: saved, taken up, averaged; files of other models are refused and change nothing.

#include "train/checkpoint.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "attention/declared_module.h"
#include "base/error.h"
#include "model/linear.h"
#include "model/prepare.h"
#include "run/run_folder.h"
#include "train/safetensors.h"

namespace synthesizer {
namespace {

using ::testing::HasSubstr;

struct Small : DeclaredModule {
  explicit Small(int64_t width, double value = 0) {
    weight = declare("weight", Role::matrix, at::full({2, width}, value));
    table = register_buffer("table", at::full({3}, value));
  }
  at::Tensor weight, table;
};

struct OneMap : torch::nn::Module {
  explicit OneMap(int64_t width, double value = 0)
      : map(register_module("map", std::make_shared<Linear>(width, 2, false))) {
    map->weight().detach().fill_(value);
    table = register_buffer("table", at::full({3}, value));
  }
  std::shared_ptr<Linear> map;
  at::Tensor table;
};

std::unique_ptr<Optimizer> optimizer_of(const torch::nn::Module& model, const TrainOptions& options = {}) {
  return make_optimizer(options, group_parameters(options, model));
}

class Checkpoint : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("checkpoint_test_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_ / "checkpoints");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }

  template <typename F>
  static std::string complaint(F f) {
    try {
      f();
    } catch (const InvalidInput& mistake) {
      return mistake.what();
    }
    return "no complaint";
  }

  std::filesystem::path folder_;
};

TEST_F(Checkpoint, QuantizedWeightsComeBackAsTheyWere) {
  c10::NoGradGuard no_grad;
  for (const auto& [kind, dtype] :
       {std::pair{Quantization::int8, at::kChar}, {Quantization::bfloat16, at::kBFloat16}}) {
    OneMap model(4, 2.5);
    quantize(model, kind);
    save_weights(path("q"), model, 7);
    EXPECT_EQ(TensorFile(path("q")).tensor("map.weight").scalar_type(), dtype);
    OneMap other(4);
    load_weights(path("q"), other);
    EXPECT_EQ(quantization(other), kind);
    const auto x = at::ones({1, 4});
    EXPECT_TRUE(at::equal(other.map->forward(x), model.map->forward(x)));
    EXPECT_NEAR(other.map->forward(x)[0][0].item<double>(), 10, 0.2);
    EXPECT_TRUE(at::equal(other.table, at::full({3}, 2.5)));
    OneMap wider(5);
    EXPECT_THAT(complaint([&] { load_weights(path("q"), wider); }), HasSubstr("belongs to another model"));
  }
  Small without_maps(4);
  save_tensors(path("t"), {{"weight", at::ones({2, 4}, at::kChar)}, {"table", at::ones({3})}});
  EXPECT_THAT(complaint([&] { load_weights(path("t"), without_maps); }), HasSubstr("'weight' is int8"));
}

/// As other programs save weights, which are trained further in float32.
TEST_F(Checkpoint, Bfloat16OfAFileThatIsNotCalledQuantizedBecomesFloat32) {
  save_tensors(path("b"),
               {{"map.weight", at::full({2, 4}, 2.5, at::kBFloat16)}, {"table", at::full({3}, 2.5)}});
  OneMap model(4);
  load_weights(path("b"), model);
  EXPECT_FALSE(quantization(model));
  EXPECT_TRUE(at::equal(model.map->weight(), at::full({2, 4}, 2.5)));
}

TEST_F(Checkpoint, LoadedWeightsMayBeWrittenAndTheFileStays) {
  save_weights(path("a"), Small(4, 2.5), 7);
  Small one(4), other(4);
  load_weights(path("a"), one);
  {
    c10::NoGradGuard no_grad;
    one.weight.zero_();
  }
  load_weights(path("a"), other);
  EXPECT_TRUE(at::equal(other.weight, at::full({2, 4}, 2.5)));
}

TEST_F(Checkpoint, WeightsComeBackWithBuffers) {
  save_weights(path("a"), Small(4, 2.5), 7, {{"tokenizer", "abc"}});
  Small other(4);
  load_weights(path("a"), other);
  EXPECT_TRUE(at::equal(other.weight, at::full({2, 4}, 2.5)));
  EXPECT_TRUE(at::equal(other.table, at::full({3}, 2.5)));
  EXPECT_EQ(TensorFile(path("a")).metadata().at("step"), "7");
  EXPECT_EQ(TensorFile(path("a")).metadata().at("tokenizer"), "abc");
}

TEST_F(Checkpoint, OfAnotherModelIsRefusedAndChangesNothing) {
  save_weights(path("a"), Small(4, 2.5), 7);
  Small other(5, 1);
  EXPECT_THAT(complaint([&] { load_weights(path("a"), other); }), HasSubstr("2×4 there and 2×5"));
  EXPECT_TRUE(at::equal(other.weight, at::ones({2, 5})));
  save_tensors(path("b"), {{"weight", at::ones({2, 5})}});
  EXPECT_THAT(complaint([&] { load_weights(path("b"), other); }), HasSubstr("no tensor 'table'"));
  save_tensors(path("c"), {{"weight", at::ones({2, 5})}, {"table", at::ones({3})}, {"more", at::ones({1})}});
  EXPECT_THAT(complaint([&] { load_weights(path("c"), other); }),
              HasSubstr("3 tensors where this model has 2"));
}

TEST_F(Checkpoint, StateHoldsEverythingExactly) {
  Small model(4, 1);
  const auto optimizer = optimizer_of(model);
  model.weight.mutable_grad() = at::full({2, 4}, 0.3);
  optimizer->step(0.1, 1);
  TrainerState state;
  state.step = 11;
  state.tokens = 1'234'567'890'123;
  state.seconds = 0.1;
  state.best = 1.0 / 3;
  state.best_step = 10;
  state.worse = 2;
  save_state(path("s"), model, *optimizer, state, {{"tokenizer", "x"}});

  Small again(4);
  const auto second = optimizer_of(again);
  const TrainerState found = load_state(path("s"), again, *second);
  EXPECT_EQ(found.step, 11);
  EXPECT_EQ(found.tokens, state.tokens);
  EXPECT_EQ(found.seconds, state.seconds);
  EXPECT_EQ(found.best, state.best);
  EXPECT_EQ(found.best_step, 10);
  EXPECT_EQ(found.worse, 2);
  EXPECT_TRUE(at::equal(again.weight, model.weight));
  EXPECT_TRUE(at::equal(second->state()[0].tensor, optimizer->state()[0].tensor));
  load_weights(path("s"), again, kModelPrefix);
}

TEST_F(Checkpoint, StateRecordsTheParameterGroups) {
  Small model(4, 1);
  TrainOptions options;
  options.weight_decay = 0.1;
  save_state(path("s"), model, *optimizer_of(model, options), {});
  EXPECT_EQ(
      TensorFile(path("s")).metadata().at("parameter_groups"),
      R"([{"name":"matrices","tensors":1,"parameters":8,"learning_rate_factor":1.0,"weight_decay":0.1},)"
      R"({"name":"vectors","tensors":0,"parameters":0,"learning_rate_factor":1.0,"weight_decay":0.0},)"
      R"({"name":"logits","tensors":0,"parameters":0,"learning_rate_factor":1.0,"weight_decay":0.0}])");
  Small again(4, 3);
  load_state(path("s"), again, *optimizer_of(again, options));
  EXPECT_TRUE(at::equal(again.weight, model.weight));
}

TEST_F(Checkpoint, StateOfOtherParameterGroupsIsRefusedAndChangesNothing) {
  Small model(4, 1), other(4, 3);
  save_state(path("s"), model, *optimizer_of(model), {});
  TrainOptions options;
  options.logit_learning_rate = 2;
  const auto optimizer = optimizer_of(other, options);
  EXPECT_THAT(complaint([&] { load_state(path("s"), other, *optimizer); }), HasSubstr("parameter groups"));
  EXPECT_TRUE(at::equal(other.weight, at::full({2, 4}, 3)));
}

TEST_F(Checkpoint, StateFromBeforeThereWereGroupsLoadsUnlessItDecayed) {
  Small model(4, 1), again(4, 3);
  save_state(path("new"), model, *optimizer_of(model), {});
  {
    const TensorFile file(path("new"));
    NamedTensors tensors;
    for (const std::string& name : file.names()) tensors.push_back({name, file.tensor(name)});
    auto metadata = file.metadata();
    ASSERT_EQ(metadata.erase("parameter_groups"), 1u);
    save_tensors(path("old"), tensors, metadata);
  }
  TrainOptions decaying;
  decaying.weight_decay = 0.1;
  const auto optimizer = optimizer_of(again, decaying);
  EXPECT_THAT(complaint([&] { load_state(path("old"), again, *optimizer); }),
              HasSubstr("train.weight_decay applied to all parameters"));
  EXPECT_TRUE(at::equal(again.weight, at::full({2, 4}, 3)));
  load_state(path("old"), again, *optimizer_of(again));
  EXPECT_TRUE(at::equal(again.weight, model.weight));
}

TEST_F(Checkpoint, AWeightsFileIsNoState) {
  Small model(4, 1);
  save_weights(path("a"), model, 7);
  const auto optimizer = optimizer_of(model);
  EXPECT_THROW(load_state(path("a"), model, *optimizer), InvalidInput);
}

TEST_F(Checkpoint, AverageIsTheMean) {
  save_weights(path("a"), Small(4, 1), 1);
  save_weights(path("b"), Small(4, 4), 2);
  const auto mean = average_weights({path("a"), path("b")});
  ASSERT_EQ(mean.size(), 2u);
  EXPECT_TRUE(at::equal(mean[0].tensor, at::full({2, 4}, 2.5)));
  save_weights(path("c"), Small(5, 4), 2);
  EXPECT_THROW(average_weights({path("a"), path("c")}), InvalidInput);
}

TEST_F(Checkpoint, OldOnesAreDeleted) {
  const RunFolder folder{folder_.string()};
  for (const int64_t step : {100, 20, 3000}) save_weights(folder.checkpoint(step), Small(1), step);
  EXPECT_EQ(folder.checkpoint_steps(), (std::vector<int64_t>{20, 100, 3000}));
  folder.prune_checkpoints(2);
  EXPECT_EQ(folder.checkpoint_steps(), (std::vector<int64_t>{100, 3000}));
}

}  // namespace
}  // namespace synthesizer
