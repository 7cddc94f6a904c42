// Recipes: read, written, explained, compared; every mistake with its place and the nearest name.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "task/recipe.h"
#include "task/recipe_keys.h"

namespace synthesizer {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class RecipeFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("recipe_test_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& text) {
    const std::string path = (folder_ / "r.toml").string();
    write_file(path, text);
    return path;
  }
  Recipe load(const std::string& text, const std::vector<std::string>& changes = {}) {
    return load_recipe(write(text), changes);
  }
  std::string complaint(const std::string& text, const std::vector<std::string>& changes = {}) {
    try {
      load(text, changes);
    } catch (const InvalidInput& mistake) {
      return mistake.what();
    }
    return "no complaint";
  }

  std::filesystem::path folder_;
};

TEST_F(RecipeFile, SetsWhatItSaysAndLeavesTheRest) {
  const Recipe r = load(
      "task = \"translation\"\n[model]\nattention = [\"R\", \"V\"]\nlayers = 2\n[model.options]\nrank = 4\n"
      "[train]\nlearning_rate = 1\nsteps = 7\n");
  EXPECT_EQ(r.task, "translation");
  EXPECT_EQ(r.model.attention, (std::vector<std::string>{"R", "V"}));
  EXPECT_EQ(r.model.attention_options.integer("rank", 0), 4);
  EXPECT_EQ(r.train.learning_rate, 1.0);
  EXPECT_EQ(r.train.steps, 7);
  EXPECT_EQ(r.train.warmup, TrainOptions{}.warmup);
  EXPECT_EQ(r.data.root, folder_.string() + "/");
}

TEST_F(RecipeFile, ChangesComeLast) {
  const Recipe r = load("[train]\nsteps = 7\n",
                        {"train.steps=8", "model.attention=R+V", "train.clip=0.5", "model.bias=false",
                         "data.train=[\"a\", \"b\"]", "model.options.rank=3", "seed=9"});
  EXPECT_EQ(r.train.steps, 8);
  EXPECT_EQ(r.model.attention, std::vector<std::string>{"R+V"});
  EXPECT_EQ(r.train.clip, 0.5);
  EXPECT_FALSE(r.model.bias);
  EXPECT_EQ(r.data.train.size(), 2u);
  EXPECT_EQ(r.model.attention_options.integer("rank", 0), 3);
  EXPECT_EQ(r.seed, 9);
}

TEST_F(RecipeFile, IsWrittenAsItIsRead) {
  const Recipe r = load(
      "seed = 5\n[data]\nroot = \"x\\\"y\"\ntrain = [\"ä\", \"b\"]\n[train]\nlearning_rate = 0.1\n"
      "[model]\nattention = \"FR+V\"\noptions = { rank = 4, weights = \"sum\" }\n");
  const std::string toml = to_toml(r);
  EXPECT_EQ(to_toml(load(toml)), toml);
  EXPECT_TRUE(differing_keys(load(toml), r).empty());
}

TEST_F(RecipeFile, UnknownKeysAreMistakesWithTheNearestName) {
  EXPECT_THAT(complaint("[train]\nstepz = 7\n"),
              AllOf(HasSubstr("r.toml:2"), HasSubstr("train.stepz"), HasSubstr("train.steps")));
  EXPECT_THAT(complaint("[model]\nsteps = 7\n"),
              AllOf(HasSubstr("model.steps"), HasSubstr("did you mean 'train.steps'")));
  EXPECT_THAT(complaint("[trian]\nsteps = 7\n"), HasSubstr("trian"));
  EXPECT_THAT(complaint("", {"modell.width=3"}),
              AllOf(HasSubstr("--set"), HasSubstr("did you mean 'model.width'")));
}

TEST_F(RecipeFile, ValuesOfTheWrongKindAreMistakes) {
  EXPECT_THAT(complaint("[train]\nsteps = \"many\"\n"),
              AllOf(HasSubstr("r.toml:2"), HasSubstr("a whole number")));
  EXPECT_THAT(complaint("[train]\nsteps = 1.5\n"), HasSubstr("a whole number"));
  EXPECT_THAT(complaint("[model]\nbias = 1\n"), HasSubstr("true or false"));
  EXPECT_THAT(complaint("[model]\nattention = 3\n"), HasSubstr("list"));
  EXPECT_THAT(complaint("[train\n"), HasSubstr("r.toml:1"));
  EXPECT_THAT(complaint("", {"train.steps"}), HasSubstr("KEY=VALUE"));
}

TEST_F(RecipeFile, ValuesOutOfRangeAreMistakes) {
  EXPECT_THAT(complaint("[train]\nsteps = -1\n"), HasSubstr("train.steps is -1"));
  EXPECT_THAT(complaint("[train]\nlabel_smoothing = 1.0\n"), HasSubstr("train.label_smoothing"));
  EXPECT_THAT(complaint("[train]\noptimizer = \"adm\"\n"), HasSubstr("did you mean 'adam'"));
  EXPECT_THAT(complaint("[model]\nwidth = 10\nheads = 3\n"), HasSubstr("multiple"));
  EXPECT_THAT(complaint("[model]\nattention = \"R+W\"\n"), HasSubstr("W"));
  EXPECT_THAT(complaint("[model]\nattention = [\"R\", \"V\"]\nlayers = 3\n"),
              HasSubstr("2 entries for 3 layers"));
  EXPECT_THAT(complaint("[model]\noptions = { rnak = 3 }\n"), HasSubstr("rank"));
  EXPECT_THAT(complaint("[decode]\nbeam = 0\n"), HasSubstr("decode.beam"));
  EXPECT_THAT(complaint("task = \"translaton\"\n"), HasSubstr("translation"));
  EXPECT_THAT(complaint("[data]\nmax_length = 1000\n"), HasSubstr("model.max_length"));
}

TEST_F(RecipeFile, ThatIsMissingIsAMistake) {
  EXPECT_THROW(load_recipe((folder_ / "none.toml").string()), InvalidInput);
}

TEST_F(RecipeFile, ContradictionsNameKeysWithBothValues) {
  const Recipe before = load("");
  EXPECT_THAT(differing_keys(load("[model]\nwidth = 128\n"), before),
              ::testing::ElementsAre("model.width (128, was 256)"));
  // Longer is fine where the schedule does not know the end; so are keys that change no weights.
  EXPECT_TRUE(
      differing_keys(load("[train]\nsteps = 99\nsave_every = 3\n[decode]\nbeam = 1\n"), before).empty());
  const Recipe cosine = load("[train]\nschedule = \"cosine\"\n");
  EXPECT_EQ(differing_keys(load("[train]\nschedule = \"cosine\"\nsteps = 99\n"), cosine).size(), 1u);
}

TEST(Explain, NamesEveryKeyOnce) {
  Recipe defaults;
  const std::string text = explain_recipe();
  for (const Key& key : keys_of(defaults)) {
    const std::string last = key.name.substr(key.name.find('.') + 1);
    EXPECT_THAT("\n" + text, HasSubstr("\n" + last + " = "));
    EXPECT_FALSE(key.help.empty()) << key.name;
  }
}

}  // namespace
}  // namespace synthesizer
