// Which validation is the best one, with scores made up: also where some are not numbers.

#include "train/trainer.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "attention/declared_module.h"
#include "train/safetensors.h"

namespace synthesizer {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct OneWeight : DeclaredModule {
  OneWeight() { weight = declare("weight", Role::matrix, at::ones({1})); }
  at::Tensor weight;
};

struct EmptyBatches : Batches {
  int64_t per_epoch() const override { return 1; }
  Batch make(int64_t sequence) const override { return {.fields = {}, .examples = {}, .sequence = sequence}; }
  std::string describe(const Batch&) const override { return "nothing"; }
};

/// A validation after every step; its scores are given.
class Trainer : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() / ("trainer_test_" + std::to_string(::getpid()));
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
    options_.eval_every = options_.save_every = options_.log_every = 1;
    options_.keep = 0;
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  /// Trains up to as many steps as there are scores; score n is that of step n + 1.
  Outcome run(const std::vector<double>& scores, bool resume = false, bool higher_is_better = true) {
    OneWeight model;
    const EmptyBatches batches;
    TrainingJob job;
    job.model = &model;
    job.batches = &batches;
    job.on_start = [](int64_t) {};
    job.loss = [&](const Batch&) {
      const auto loss = model.weight.square().sum();
      return LossSum{loss, loss.item<double>(), 1, 0};
    };
    size_t next = resume ? steps_done_ : 0;
    job.validate = [&] { return Scores{{"score", scores.at(next++)}}; };
    job.watched = "score";
    job.higher_is_better = higher_is_better;
    options_.steps = static_cast<int64_t>(scores.size());
    const Outcome outcome = train(job, options_, folder(), resume);
    steps_done_ = static_cast<size_t>(outcome.state.step);
    return outcome;
  }

  RunFolder folder() const { return {path_.string()}; }
  std::string kept_step() const { return TensorFile(folder().model()).metadata().at("step"); }

  std::filesystem::path path_;
  TrainOptions options_;
  size_t steps_done_ = 0;
};

TEST_F(Trainer, KeepsTheWeightsOfTheBestScore) {
  EXPECT_EQ(run({1, 3, 2}).state.best_step, 2);
  EXPECT_EQ(kept_step(), "2");
}

TEST_F(Trainer, AScoreThatIsNotFiniteIsNeverTheBest) {
  for (const double odd : {kNaN, kInfinity, -kInfinity}) {
    for (const bool higher : {false, true}) {
      SetUp();
      const TrainerState first = run({odd, 3, 3}, false, higher).state;
      EXPECT_EQ(first.best_step, 2) << odd;
      EXPECT_EQ(first.best, 3) << odd;
      EXPECT_EQ(kept_step(), "2") << odd;
      SetUp();
      const TrainerState later = run({3, odd, 3}, false, higher).state;
      EXPECT_EQ(later.best_step, 1) << odd;
      EXPECT_EQ(later.best, 3) << odd;
      EXPECT_EQ(kept_step(), "1") << odd;
    }
  }
}

TEST_F(Trainer, AResumedRunFindsItsBestAfterScoresThatAreNotFinite) {
  EXPECT_EQ(run({kNaN, kNaN}).state.best_step, 0);
  EXPECT_EQ(kept_step(), "2") << "without a best score the last weights are kept";
  const TrainerState state = run({kNaN, kNaN, 1, 2, kNaN}, /*resume=*/true).state;
  EXPECT_EQ(state.best_step, 4);
  EXPECT_EQ(state.best, 2);
  EXPECT_EQ(kept_step(), "4");
}

TEST_F(Trainer, AStateWhoseBestScoreIsNotFiniteHasNone) {  // as earlier versions have saved it
  run({1});
  {
    OneWeight model;
    const auto optimizer = make_optimizer(options_, group_parameters(options_, model));
    TrainerState state = load_state(folder().state(), model, *optimizer);
    state.best = kNaN;
    state.worse = 5;
    save_state(folder().state(), model, *optimizer, state);
  }
  options_.patience = 3;
  const TrainerState state = run({kNaN, 2, 1}, /*resume=*/true).state;
  EXPECT_EQ(state.best_step, 2);
  EXPECT_EQ(kept_step(), "2");
}

TEST_F(Trainer, PatienceBeginsWithTheFirstFiniteScore) {
  options_.patience = 2;
  const Outcome patient = run({kNaN, kNaN, kNaN, 1, 2});
  EXPECT_EQ(patient.end, Outcome::End::finished);
  EXPECT_EQ(patient.state.best_step, 5);
  SetUp();
  options_.patience = 2;
  const Outcome ended = run({1, kNaN, 0, 5, 6});
  EXPECT_EQ(ended.end, Outcome::End::patience);
  EXPECT_EQ(ended.state.step, 3);
  EXPECT_EQ(ended.state.best_step, 1);
}

}  // namespace
}  // namespace synthesizer
