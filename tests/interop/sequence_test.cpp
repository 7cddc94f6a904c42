// Imported encoder-decoders against what transformers computes with the same folder.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "interop/import_model.h"
#include "interop/references.h"
#include "model/prepare.h"
#include "task/sequence_task.h"

namespace synthesizer {
namespace {

using testing::Reference;

class SequenceImport : public ::testing::TestWithParam<const char*> {
 protected:
  SequenceImport() : reference_(GetParam()), task_(import_model({reference_.folder, {}})) {}
  SequenceTask& task() { return dynamic_cast<SequenceTask&>(*task_); }
  EncoderDecoder& model() { return dynamic_cast<EncoderDecoder&>(task_->model()); }

  Reference reference_;
  std::unique_ptr<Task> task_;
};

at::Tensor logits_of(EncoderDecoder& model, const std::map<std::string, at::Tensor>& given) {
  const auto encoded = model.encode(given.at("source"), given.at("source_lengths"));
  return model.output().logits(
      model.decode(given.at("target"), given.at("target_lengths"), encoded, given.at("source_lengths")));
}

TEST_P(SequenceImport, HasTheLogitsOfAPaddedBatch) {
  c10::NoGradGuard no_grad;
  const auto& given = reference_.tensors;
  EXPECT_LT(
      testing::largest_difference(logits_of(model(), given), given.at("logits"), given.at("target_lengths")),
      1e-4);
  prepare_for_inference(model());
  EXPECT_LT(
      testing::largest_difference(logits_of(model(), given), given.at("logits"), given.at("target_lengths")),
      1e-4);
}

TEST_P(SequenceImport, HasTheSameTokens) {
  const auto& expected = reference_.expected;
  for (const char* side : {"", "target_"}) {
    const bool target = *side != '\0';
    const Tokenizer& tokenizer = target ? *task().tokenizers().target : *task().tokenizers().source;
    const auto lines = expected[std::string(side) + "lines"].get<std::vector<std::string>>();
    for (size_t n = 0; n < lines.size(); ++n) {
      Tokens ours = tokenizer.encode(lines[n]);
      ours.push_back(tokenizer.end());
      EXPECT_EQ(ours, expected[std::string(side) + "tokens"][n].get<Tokens>()) << side << lines[n];
    }
  }
}

TEST_P(SequenceImport, WritesWhatGreedyAndBeamSearchWrite) {
  prepare_for_inference(model());
  const auto lines = reference_.expected["lines"].get<std::vector<std::string>>();
  DecodeOptions greedy, once, beam, never, as_theirs;
  greedy.beam = once.beam = 1;
  beam.beam = 4;
  beam.length_penalty = 0.6;
  once.no_repeat_ngram = beam.no_repeat_ngram = 2;
  never.beam = never.no_repeat_ngram = 3;
  never.length_penalty = 0;
  never.early_stopping = as_theirs.early_stopping = false;
  as_theirs.transformers_rules = true;
  as_theirs.length_penalty = 1;
  DecodeOptions renormalized = as_theirs, greedy_cut = greedy, cut = as_theirs;
  renormalized.renormalize = true;
  renormalized.no_repeat_ngram = 2;
  renormalized.min_length = 6;
  greedy_cut.forced_end = cut.forced_end = false;
  DecodeOptions cut_early = cut;
  cut_early.early_stopping = true;
  cut_early.length_penalty = 2;
  bool wrote = false;
  for (const auto& [name, options] : {std::pair("greedy", greedy),
                                      {"greedy_once", once},
                                      {"beam", beam},
                                      {"beam_never", never},
                                      {"beam_default", as_theirs},
                                      {"beam_renormalized", renormalized},
                                      {"greedy_cut", greedy_cut},
                                      {"beam_cut", cut},
                                      {"beam_cut_early", cut_early}}) {
    DecodeOptions limited = options;
    const int64_t limit = options.beam == 1 || options.transformers_rules ? 24 : 60;
    limited.max_length = limit - (options.forced_end ? 2 : 1);  // without start and end
    std::vector<std::string> remarks;
    const auto written = task().translate(lines, limited, 1000, LongLine::truncate, 1, remarks);
    for (size_t n = 0; n < lines.size(); ++n) {
      const auto& all = reference_.expected["written"];
      if (!all.contains(name)) continue;  // the reference of Marian itself has none by transformers' rules
      const auto& expected = all[name][n];
      if (!expected.is_null()) {
        EXPECT_EQ(written[n].at(0).text, expected.get<std::string>()) << name << " " << lines[n];
        wrote = wrote || !expected.get<std::string>().empty();
      }
    }
  }
  EXPECT_TRUE(wrote);  // or the comparison says nothing
}

TEST_P(SequenceImport, SurvivesItsFiles) {
  const auto& tokenizers = task().tokenizers();
  for (const auto& tokenizer : {tokenizers.source, tokenizers.target}) {
    const auto again = parse_tokenizer(tokenizer->serialized(), "again");
    EXPECT_EQ(again->serialized(), tokenizer->serialized());
    EXPECT_EQ(again->encode("we know't"), tokenizer->encode("we know't"));
    EXPECT_TRUE(again->shares_vocabulary(*tokenizer));
  }
}

INSTANTIATE_TEST_SUITE_P(Families, SequenceImport,
                         ::testing::Values("marian", "marian-separate", "marian-npz", "t5-1.0", "t5-1.1"));

}  // namespace
}  // namespace synthesizer
