#include "run/run_record.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "base/file.h"
#include "run/run_files.h"
#include "run/safetensors_header.h"

namespace synthesizer::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::ThrowsMessage;

using RunRecordFiles = RunFiles;

TEST_F(RunRecordFiles, say_what_the_run_was_and_did) {
  const RunRecord run = read_run(write_run("V", "\"V\""));
  EXPECT_EQ(run.name, "V");
  EXPECT_EQ(run.task(), "translation");
  EXPECT_EQ(run.attention(), "V");
  EXPECT_EQ(run.steps(), 20);
  EXPECT_TRUE(run.finished());
  EXPECT_EQ(run.seconds(), 9);
  EXPECT_EQ(run.tokens_per_second(), 200);
  EXPECT_EQ(run.provenance.processor.name, "a chip");
  EXPECT_EQ(run.provenance.threads, 2);
  EXPECT_EQ(run.provenance.command.size(), 3u);
  EXPECT_FALSE(run.parameters);
  EXPECT_NO_THROW(check_has_steps(run));
}

TEST_F(RunRecordFiles, keep_the_validation_that_was_best) {
  const std::string folder = write_run("V", "\"V\"");
  EXPECT_EQ(read_run(folder).best()->step, 10);
  std::string config =
      "task = \"translation\"\n[model]\nattention = \"V\"\n[train]\nsteps = 20\nwatch = \"bleu\"\n";
  write("V/config.toml", config);
  EXPECT_EQ(read_run(folder).best()->step, 20) << "more of it is better";
  EXPECT_EQ(read_run(folder).best()->seconds, 9) << "when the training line before it was written";
}

TEST_F(RunRecordFiles, take_no_score_for_the_best_that_is_not_finite) {
  const std::string folder = write_run("V", "\"V\"");
  const std::string dev = "{\"step\":10,\"split\":\"dev\",\"loss\":null}\n";
  write("V/metrics.jsonl", dev + "{\"step\":20,\"split\":\"dev\",\"loss\":3.25}\n");
  ASSERT_TRUE(read_run(folder).best());
  EXPECT_EQ(read_run(folder).best()->step, 20);
  write("V/metrics.jsonl", dev);
  EXPECT_FALSE(read_run(folder).best());
}

/// Stopped after the last line of the log was written, and before the last state was.
TEST_F(RunRecordFiles, whose_log_is_ahead_of_what_was_saved_are_not_finished) {
  const std::string folder = write_run("V", "\"V\"");
  write("V/train_state.safetensors", write_tensor_header({}, {{"step", "10"}}));
  EXPECT_FALSE(read_run(folder).finished());
  write("V/train_state.safetensors", write_tensor_header({}, {{"step", "20"}}));
  EXPECT_TRUE(read_run(folder).finished());
  write("V/train_state.safetensors", "damaged");
  EXPECT_TRUE(read_run(folder).finished()) << "it cannot be resumed: its log is all there is";
}

/// With few lines in the log, most of what a stopped run has saved is behind the last of them.
TEST_F(RunRecordFiles, show_the_step_that_was_saved) {
  const std::string folder = write_run("V", "\"V\"");
  write("V/config.toml", "task = \"translation\"\n[train]\nsteps = 1000\n");
  EXPECT_EQ(read_run(folder).reached(), 20) << "no state, but a log";
  write("V/train_state.safetensors", write_tensor_header({}, {{"step", "800"}}));
  EXPECT_EQ(read_run(folder).reached(), 800);
  EXPECT_EQ(read_run(folder).steps(), 20);
  EXPECT_FALSE(read_run(folder).finished());
  write("V/train_state.safetensors", write_tensor_header({}, {{"step", "10"}}));
  EXPECT_EQ(read_run(folder).reached(), 20) << "the log is ahead";
}

TEST_F(RunRecordFiles, of_no_steps_are_finished_when_there_is_a_state) {
  const std::string folder = write_run("V", "\"V\"");
  write("V/config.toml", "task = \"translation\"\n[train]\nsteps = 0\n");
  write("V/metrics.jsonl", "");
  EXPECT_FALSE(read_run(folder).finished());
  write("V/train_state.safetensors", write_tensor_header({}, {{"step", "0"}}));
  EXPECT_TRUE(read_run(folder).finished());
  EXPECT_EQ(read_run(folder).reached(), 0);
}

TEST_F(RunRecordFiles, of_an_interrupted_run_are_not_finished) {
  const std::string folder = write_run("V", "\"V\"");
  write("V/config.toml", "task = \"translation\"\n[train]\nsteps = 30\n");
  EXPECT_FALSE(read_run(folder).finished());
  write("V/config.toml", "task = \"translation\"\n[train]\nsteps = 30\nwatch = \"loss\"\npatience = 1\n");
  EXPECT_TRUE(read_run(folder).finished()) << "one validation was no better: it gave up";
  write("V/config.toml", "task = \"translation\"\n[train]\nsteps = 30\nwatch = \"loss\"\npatience = 2\n");
  EXPECT_FALSE(read_run(folder).finished());
}

TEST_F(RunRecordFiles, name_the_attentions_of_layers_and_sides) {
  EXPECT_EQ(read_run(write_run("list", "[\"V\", \"R+V\"]")).attention(), "V, R+V");
  const std::string folder = write_run("sides", "\"V\"");
  const std::string task = "task = \"translation\"\n[model]\nattention = \"V\"\n";
  write("sides/config.toml", task + "encoder_attention = \"R\"\ndecoder_attention = []\n");
  EXPECT_EQ(read_run(folder).attention(), "encoder R, decoder V");
  write("sides/config.toml", task + "encoder_attention = [\"R\"]\ndecoder_attention = [\"R\"]\n");
  EXPECT_EQ(read_run(folder).attention(), "R");
}

TEST_F(RunRecordFiles, count_parameters_and_those_of_the_synthesis) {
  const std::string folder = write_run("R", "\"R\"");
  write("R/model.safetensors", weights({{"embedding.weight", {10, 4}},
                                        {"encoder.layers.0.attention.value.weight", {4, 4}},
                                        {"encoder.layers.0.attention.logits.R.table", {2, 8, 8}},
                                        {"encoder.layers.0.attention.logits.mixture", {2}},
                                        {"encoder.layers.0.attention.logits.Fix.table", {2, 8, 8}},
                                        {"encoder.layers.1.attention.kernel.weight", {2, 3}},
                                        {"encoder.layers.2.attention.project.key", {2, 8}},
                                        {"decoder.layers.0.cross.query.weight", {4, 4}}}));
  const auto count = read_run(folder).parameters.value();
  EXPECT_EQ(count.total, 40 + 16 + 128 + 2 + 6 + 16 + 16);
  EXPECT_EQ(count.synthesis, 128 + 2 + 6 + 16);
}

TEST_F(RunRecordFiles, with_a_damaged_model_are_refused) {
  const std::string folder = write_run("R", "\"R\"");
  const std::string whole = weights({{"embedding.weight", {10, 4}}});
  write("R/model.safetensors", whole.substr(0, 40));
  EXPECT_THAT([&] { read_run(folder); }, ThrowsMessage<InvalidInput>(HasSubstr("it ends within its header")));
  write("R/model.safetensors", whole.substr(0, whole.size() - 5));
  EXPECT_THAT([&] { read_run(folder); },
              ThrowsMessage<InvalidInput>(HasSubstr("its last 5 bytes are missing")));
  write("R/model.safetensors", "abc");
  EXPECT_THAT([&] { read_run(folder); }, ThrowsMessage<InvalidInput>(HasSubstr("is not a safetensors file")));
  std::string negative = whole;
  negative.replace(negative.find("[10,4]"), 6, "[1,-4]");
  write("R/model.safetensors", negative);
  EXPECT_THAT([&] { read_run(folder); },
              ThrowsMessage<InvalidInput>(HasSubstr("has a size -4, not a whole number")));
}

TEST_F(RunRecordFiles, may_be_read_while_they_are_written) {
  const std::string folder = write_run("V", "\"V\"");
  const std::string line = "{\"step\":10,\"split\":\"train\",\"loss\":3.5}\n";
  const std::string torn = "{\"step\":20,\"split\":\"train\",\"loss\":2.25}";
  for (size_t length = 0; length < torn.size(); ++length) {
    write("V/metrics.jsonl", line + torn.substr(0, length));
    EXPECT_EQ(read_run(folder).steps(), 10) << length;
  }
  write("V/metrics.jsonl", line + torn);
  EXPECT_EQ(read_run(folder).steps(), 20) << "it lacks nothing but its end";
  write("V/metrics.jsonl", "{\"step\":20}\n" + line);
  EXPECT_THAT([&] { read_run(folder); },
              ThrowsMessage<InvalidInput>(HasSubstr("metrics.jsonl:1: not a line")));
}

TEST_F(RunRecordFiles, hold_the_weights_of_mixtures_and_what_was_not_finite) {
  const std::string folder = write_run("V", "\"V\"");
  write("V/metrics.jsonl",
        "{\"step\":5,\"split\":\"dev\",\"loss\":null}\n"
        "{\"step\":5,\"split\":\"mixture\",\"encoder.0\":[0.25,0.75],\"encoder.1\":[[0.5,0.5],[1,0]]}\n");
  const Curves curves = read_run(folder).curves;
  EXPECT_TRUE(std::isnan(curves.of("dev").at(0).value("loss").value()));
  EXPECT_THAT(curves.of("mixture").at(0).rows,
              ElementsAre(Pair("encoder.0", ElementsAre(ElementsAre(0.25, 0.75))),
                          Pair("encoder.1", ElementsAre(ElementsAre(0.5, 0.5), ElementsAre(1, 0)))));
  EXPECT_TRUE(curves.of("test").empty());
}

TEST_F(RunRecordFiles, without_a_finished_step_are_nothing_to_compare) {
  const std::string folder = write_run("V", "\"V\"");
  write("V/metrics.jsonl", "");
  EXPECT_THAT([&] { check_has_steps(read_run(folder)); },
              ThrowsMessage<InvalidInput>(AllOf(HasSubstr(folder), HasSubstr("no finished steps"))));
  std::filesystem::remove(folder + "/metrics.jsonl");
  EXPECT_FALSE(read_run(folder).finished());
  EXPECT_EQ(read_run(folder).tokens_per_second(), std::nullopt);
}

TEST_F(RunRecordFiles, of_a_derived_run_say_what_can_be_done_with_it) {
  const std::string folder = write_run("V", "\"V\"");
  write("V/metrics.jsonl", "");
  write("V/run.json", R"({"made_from":{"by":"export","run":"/there/x"}})");
  write("V/model.safetensors", weights({{"embedding.weight", {10, 4}}}));
  EXPECT_THAT(
      [&] { check_has_steps(read_run(folder)); },
      ThrowsMessage<InvalidInput>(AllOf(HasSubstr("--init-from " + folder), HasSubstr("synth eval"))));
  write("V/model.safetensors",
        write_tensor_header({{"embedding.weight", "I8", {2, 2}, 0, 4}}, {}) + std::string(4, '\0'));
  EXPECT_TRUE(read_run(folder).quantized);
  EXPECT_THAT([&] { check_has_steps(read_run(folder)); },
              ThrowsMessage<InvalidInput>(AllOf(Not(HasSubstr("--init-from")), HasSubstr("synth eval"))));
}

TEST_F(RunRecordFiles, must_be_those_of_a_run) {
  EXPECT_THAT([&] { read_run((root_ / "nowhere").string()); },
              ThrowsMessage<InvalidInput>(HasSubstr("there is no such folder")));
  EXPECT_THAT([&] { read_run(root_.string()); },
              ThrowsMessage<InvalidInput>(HasSubstr("has no config.toml")));
  const std::string folder = write_run("V", "\"V\"");
  const std::string config = read_file(folder + "/config.toml");
  write("V/config.toml", "");
  EXPECT_THAT([&] { read_run(folder); }, ThrowsMessage<InvalidInput>(HasSubstr("config.toml has no task")));
  write("V/config.toml", config);
  write("V/run.json", "[]");
  EXPECT_THAT([&] { read_run(folder); }, ThrowsMessage<InvalidInput>(HasSubstr("run.json is damaged")));
  write("V/run.json", "{\"threads\":\"two\"}");
  EXPECT_THAT([&] { read_run(folder); }, ThrowsMessage<InvalidInput>(HasSubstr("run.json is damaged")));
}

TEST_F(RunRecordFiles, name_the_run_whatever_the_end_of_its_path) {
  EXPECT_EQ(read_run(write_run("R+V", "\"R+V\"") + "/").name, "R+V");
}

TEST(Scores, are_better_up_or_down) {
  for (const char* down : {"loss", "perplexity", "word_perplexity", "bits_per_character", "seconds"})
    EXPECT_TRUE(lower_is_better(down)) << down;
  for (const char* up : {"bleu", "accuracy", "rougeL", "tokens_per_second"})
    EXPECT_FALSE(lower_is_better(up)) << up;
}

}  // namespace
}  // namespace synthesizer::testing
