// GLUE's files as text to text: both layouts of each task, ugly rows, wrong ones.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "task/benchmarks.h"
#include "text/lines.h"

namespace synthesizer::testing {
namespace {

TEST(Glue, cola) {
  const Texts expected{"cola sentence: The \"box\" is. -> acceptable",
                       "cola sentence: Box the is. -> unacceptable"};
  EXPECT_EQ(texts("CoLA", {"gj04\t1\t\tThe \"box\" is.", "gj04\t0\t*\tBox the is."}), expected);
  EXPECT_EQ(texts("cola", {"label\tsentence", "1\tThe \"box\" is.", "0\tBox the is."}), expected);
}

TEST(Glue, sst2) {
  const Texts expected{"sst2 sentence: it 's good -> positive", "sst2 sentence: no wit -> negative"};
  EXPECT_EQ(texts("SST-2", {"sentence\tlabel", "it 's good\t1", "no wit\t0"}), expected);
  EXPECT_EQ(texts("sst2", {"label\tsentence", "1\tit 's good", "0\tno wit"}), expected);
}

TEST(Glue, mrpc) {
  const Texts expected{"mrpc sentence1: \"a sentence2: b\" -> equivalent",
                       "mrpc sentence1: c sentence2: d -> not_equivalent"};
  EXPECT_EQ(texts("MRPC", {"\xEF\xBB\xBFQuality\t#1 ID\t#2 ID\t#1 String\t#2 String", "1\t7\t8\t\"a\tb\"",
                           "0\t9\t10\tc\td"}),
            expected);
  EXPECT_EQ(texts("mrpc", {"label\tsentence1\tsentence2", "1\t\"a\tb\"", "0\tc\td"}), expected);
}

TEST(Glue, stsb) {
  const Texts expected{"stsb sentence1: a sentence2: b -> 3.8"};
  EXPECT_EQ(texts("STS-B",
                  {"index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore",
                   "1\tmain\tx\t2012\t4\tnone\tnone\ta\tb\t3.800"}),
            expected);
  const auto examples = read_lines(find_benchmark("stsb"), {"score\tsentence1\tsentence2", "3.750\ta\tb"});
  EXPECT_EQ(shown(examples), expected);
  EXPECT_EQ(examples[0].answers, Texts{"3.750"});  // what correlations are counted with
}

TEST(Glue, stsb_scores_are_rounded_to_fifths_with_halves_to_the_even_one) {
  auto target = [](const std::string& score) {
    return read_lines(find_benchmark("stsb"), {"score\tsentence1\tsentence2", score + "\ta\tb"})[0].target;
  };
  EXPECT_EQ(target("0"), "0.0");
  EXPECT_EQ(target("5.000000"), "5.0");
  EXPECT_EQ(target("1.733"), "1.8");  // 8.665 fifths
  EXPECT_EQ(target("2.5"), "2.4");    // 12.5 fifths: 12
  EXPECT_EQ(target("1.5"), "1.6");    // 7.5 fifths: 8
  EXPECT_EQ(target("0.083"), "0.0");  // 0.415 fifths
}

TEST(Glue, qqp) {
  const Texts expected{"qqp question1: a? question2: b? -> duplicate",
                       "qqp question1: c? question2: d? -> not_duplicate"};
  EXPECT_EQ(texts("QQP", {"id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate", "1\t2\t3\ta?\tb?\t1",
                          "4\t5\t6\tc?\td?\t0"}),
            expected);
  EXPECT_EQ(texts("qqp", {"label\tsentence1\tsentence2", "1\ta?\tb?", "0\tc?\td?"}), expected);
}

TEST(Glue, qqp_rows_that_a_line_end_tore_are_left_out_of_its_own_files_alone) {
  EXPECT_EQ(texts("qqp", {"id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate", "1\t2\t3\t\"a?", "\"\tb?\t1",
                          "4\t5\t6\tc?\td?\t0"}),
            Texts{"qqp question1: c? question2: d? -> not_duplicate"});
  EXPECT_EQ(complaint("qqp", {"label\tsentence1\tsentence2", "1\ta?"}),
            "f:2: 2 fields, where the header has 3");
}

TEST(Glue, mnli_has_the_hypothesis_first) {
  const Texts expected{"mnli hypothesis: b premise: a -> neutral"};
  EXPECT_EQ(texts("MNLI", {"index\tpromptID\tpairID\tgenre\tsentence1_binary_parse\tsentence2_binary_parse\t"
                           "sentence1_parse\tsentence2_parse\tsentence1\tsentence2\tlabel1\tgold_label",
                           "0\t1\t1n\tfiction\t( a )\t( b )\t(ROOT a)\t(ROOT b)\ta\tb\tentailment\tneutral"}),
            expected);
  EXPECT_EQ(texts("mnli", {"label\tsentence1\tsentence2", "neutral\ta\tb"}), expected);
  EXPECT_EQ(texts("mnli", {"label\tsentence1\tsentence2", "entailment\ta\tb", "contradiction\ta\tb"}),
            (Texts{"mnli hypothesis: b premise: a -> entailment",
                   "mnli hypothesis: b premise: a -> contradiction"}));
}

TEST(Glue, qnli) {
  const Texts expected{"qnli question: a? sentence: b. -> entailment",
                       "qnli question: c? sentence: d. -> not_entailment"};
  EXPECT_EQ(texts("QNLI",
                  {"index\tquestion\tsentence\tlabel", "0\ta?\tb.\tentailment", "1\tc?\td.\tnot_entailment"}),
            expected);
  EXPECT_EQ(texts("qnli", {"label\tsentence1\tsentence2", "entailment\ta?\tb.", "not_entailment\tc?\td."}),
            expected);
}

TEST(Glue, rte_and_wnli) {
  EXPECT_EQ(
      texts("RTE", {"index\tsentence1\tsentence2\tlabel", "0\ta\tb\tentailment", "1\tc\td\tnot_entailment"}),
      (Texts{"rte sentence1: a sentence2: b -> entailment",
             "rte sentence1: c sentence2: d -> not_entailment"}));
  EXPECT_EQ(texts("WNLI", {"index\tsentence1\tsentence2\tlabel", "0\ta\tb\t1", "1\tc\td\t0"}),
            (Texts{"wnli sentence1: a sentence2: b -> entailment",
                   "wnli sentence1: c sentence2: d -> not_entailment"}));
  EXPECT_EQ(texts("WNLI", {"label\tsentence1\tsentence2", "1\ta\tb"}),
            Texts{"wnli sentence1: a sentence2: b -> entailment"});
}

TEST(Glue, empty_sentences_quotes_and_other_scripts_are_taken_as_they_are) {
  EXPECT_EQ(texts("sst2", {"label\tsentence", "1\t", "0\t\"\"", "1\t 我喜欢 – naïve “it” 🙂 "}),
            (Texts{"sst2 sentence:  -> positive", "sst2 sentence: \"\" -> negative",
                   "sst2 sentence:  我喜欢 – naïve “it” 🙂  -> positive"}));
}

TEST(Glue, files_may_have_line_ends_of_windows) {
  const auto path =
      std::filesystem::temp_directory_path() / ("glue_test_" + std::to_string(::getpid()) + ".tsv");
  write_file(path, "sentence\tlabel\r\ngood\t1\r\n");
  Texts read;
  LineReader lines(path);
  for (std::string line; lines.next(line);) read.push_back(line);
  std::filesystem::remove(path);
  EXPECT_EQ(texts("sst2", read), Texts{"sst2 sentence: good -> positive"});
}

TEST(Glue, mistakes_are_told_with_their_line) {
  EXPECT_EQ(
      complaint("rte", {"label\tsentence1\tsentence", "entailment\ta\tb"}),
      "f:1: there is no column 'sentence2' among label, sentence1, sentence, did you mean 'sentence1'?");
  EXPECT_EQ(complaint("mrpc", {"index\t#1 ID\t#2 ID\t#1 String\t#2 String"}),
            "f:1: there is no column 'label' among index, #1 ID, #2 ID, #1 String, #2 String");
  EXPECT_EQ(complaint("sst2", {"label\tsentence", "1\ta", "1\ta\tb"}),
            "f:3: 3 fields, where the header has 2");
  EXPECT_EQ(complaint("sst2", {"label\tsentence", "1\ta", ""}), "f:3: 1 fields, where the header has 2");
  EXPECT_EQ(complaint("cola", {"gj04\t1\t\ta", "gj04\t1\ta"}), "f:2: 3 fields, where the first row has 4");
  EXPECT_EQ(complaint("cola", {"1\tno header"}), "f:1: there is no column 'label' among 1, no header");
  EXPECT_EQ(complaint("sst2", {"label\tsentence", "2\ta"}), "f:2: the label '2' is none of 0, 1");
  EXPECT_EQ(complaint("mnli", {"label\tsentence1\tsentence2", "-\ta\tb"}),
            "f:2: the label '-' is none of entailment, neutral, contradiction");
  for (const std::string score : {"", "x", "5.1", "-0.2", "nan", "3,5", "3.5 "}) {
    EXPECT_EQ(complaint("stsb", {"score\tsentence1\tsentence2", score + "\ta\tb"}),
              "f:2: the score '" + score + "' is not a number from 0 to 5");
  }
}

}  // namespace
}  // namespace synthesizer::testing
