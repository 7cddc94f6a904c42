// Examples from files of every format, and every way in which these can be wrong.

#include "text/examples.h"

#include <zlib.h>

#include "text/corpus.h"

namespace synthesizer::testing {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows all(const Files& files) {
  ExampleReader reader(files);
  Rows rows;
  for (std::vector<std::string> fields; reader.next(fields);) rows.push_back(fields);
  return rows;
}

class Examples : public FolderTest {
 protected:
  void write_gzip(const std::string& name, const std::string& text) {
    gzFile file = gzopen(path(name).c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
  }
};

TEST_F(Examples, of_parallel_files_are_their_lines_side_by_side) {
  const Files files{{write("a.en", "one\n\ntwo\n"), write("a.de", "eins\nleer\nzwei")}};
  EXPECT_EQ(all(files), (Rows{{"one", "eins"}, {"", "leer"}, {"two", "zwei"}}));
  EXPECT_EQ(ExampleReader(files).fields(), 2u);
}

TEST_F(Examples, of_parallel_shards_follow_each_other) {
  Files files{{write("1.en", "one\ntwo\n"), write("1.de", "eins\nzwei\n"), write("2.en", ""),
               write("2.de", ""), write("3.en", "three\n"), write("3.de", "drei\n")}};
  files.side_by_side = 2;
  EXPECT_EQ(all(files), (Rows{{"one", "eins"}, {"two", "zwei"}, {"three", "drei"}}));
  ExampleReader reader(files);
  EXPECT_EQ(reader.fields(), 2u);
  std::vector<std::string> fields;
  for (int i = 0; i < 3; ++i) reader.next(fields);
  EXPECT_EQ(reader.where(), path("3.en") + ":1");
  EXPECT_FALSE(reader.next(fields));
  EXPECT_FALSE(reader.next(fields));
}

TEST_F(Examples, of_parallel_shards_of_unequal_lengths_name_the_shard) {
  Files files{{write("1.en", "one\n"), write("1.de", "eins\n"), write("2.en", "two\n"), write("2.de", "")}};
  files.side_by_side = 2;
  EXPECT_EQ(mistake([&] { all(files); }),
            path("2.en") + " has 1 lines and " + path("2.de") + " 0: parallel files need as many");
}

TEST_F(Examples, of_concatenated_files_are_their_lines_in_order) {
  Files files{{write("a.txt", "1\n2"), write("b.txt", ""), write("c.txt", "3\n")}};
  files.concatenate = true;
  EXPECT_EQ(all(files), (Rows{{"1"}, {"2"}, {"3"}}));
  ExampleReader reader(files);
  std::vector<std::string> fields;
  for (int i = 0; i < 3; ++i) reader.next(fields);
  EXPECT_EQ(reader.where(), path("c.txt") + ":1");
  EXPECT_EQ(reader.file(), 2u);
  EXPECT_FALSE(reader.next(fields));
  EXPECT_FALSE(reader.next(fields));
}

TEST_F(Examples, come_from_gzipped_files_too) {
  write_gzip("a.tsv.gz", "x\ty\n1\t2\n");
  EXPECT_EQ(all({{path("a.tsv.gz")}, TextFormat::automatic, {"y"}}), (Rows{{"2"}}));
}

TEST_F(Examples, of_tsv_have_the_columns_asked_for_in_their_order) {
  const Files files{{write("a.tsv", "id\ttext\tlabel\r\n7\t\"so\" it is\t1\r\n8\t\t0\n")},
                    TextFormat::automatic,
                    {"label", "text"}};
  EXPECT_EQ(all(files), (Rows{{"1", "\"so\" it is"}, {"0", ""}}));
  ExampleReader reader(files);
  std::vector<std::string> fields;
  reader.next(fields);
  EXPECT_EQ(reader.where(), path("a.tsv") + ":2");
}

TEST_F(Examples, of_several_tsv_files_follow_the_header_of_each) {
  const Files files{
      {write("a.tsv", "x\ty\n1\t2\n"), write("b.tsv", ""), write("c.tsv", "y\tz\tx\n4\t5\t3\n")},
      TextFormat::automatic,
      {"x", "y"}};
  EXPECT_EQ(all(files), (Rows{{"1", "2"}, {"3", "4"}}));
}

TEST_F(Examples, of_tsv_without_column_names_have_no_header) {
  const Files files{{write("a.tsv", "1\t2\n3\t4\n")}};
  EXPECT_EQ(ExampleReader(files).fields(), 2u);
  EXPECT_EQ(all(files), (Rows{{"1", "2"}, {"3", "4"}}));
}

TEST_F(Examples, of_tsv_leave_a_byte_order_mark_out) {
  EXPECT_EQ(all({{write("a.tsv", "\xEF\xBB\xBFx\ty\n1\t2\n")}, TextFormat::automatic, {"x"}}), (Rows{{"1"}}));
}

TEST_F(Examples, of_json_lines_are_the_values_as_text) {
  const std::string text = R"({"text": "a\tb é \u00e9", "label": 3, "more": [1]}

{"label": true, "text": ""}
{"label": -0.5, "text": "z"})";
  const Files files{{write("a.jsonl", text)}, TextFormat::automatic, {"text", "label"}};
  EXPECT_EQ(all(files), (Rows{{"a\tb é é", "3"}, {"", "true"}, {"z", "-0.5"}}));
  ExampleReader reader(files);
  std::vector<std::string> fields;
  reader.next(fields);
  reader.next(fields);
  EXPECT_EQ(reader.where(), path("a.jsonl") + ":3");
}

TEST_F(Examples, are_read_in_the_format_that_is_named) {
  EXPECT_EQ(all({{write("a.txt", "1\t2\n")}, TextFormat::tsv}), (Rows{{"1", "2"}}));
  EXPECT_EQ(all({{write("a.tsv", "1\t2\n")}, TextFormat::lines}), (Rows{{"1\t2"}}));
}

TEST_F(Examples, of_an_empty_file_are_none) {
  EXPECT_TRUE(all({{write("a.txt", "")}}).empty());
  EXPECT_TRUE(all({{write("a.tsv", "")}}).empty());
  EXPECT_TRUE(all({{write("b.tsv", "x\n")}, TextFormat::automatic, {"x"}}).empty());
}

TEST_F(Examples, parallel_files_of_unequal_lengths_are_refused_with_both_numbers) {
  std::string many;
  for (int i = 0; i < 29000; ++i) many += "x\n";
  const std::string en = write("train.en", many), de = write("train.de", many.substr(2));
  EXPECT_EQ(mistake([&] {
              all({{en, de}});
            }),
            en + " has 29,000 lines and " + de + " 28,999: parallel files need as many");
  EXPECT_EQ(mistake([&] {
              all({{de, en, en}});
            }),
            de + " has 28,999 lines and " + en + " 29,000: parallel files need as many");
  const std::string none = write("train.fr", "");
  EXPECT_EQ(mistake([&] {
              all({{en, none}});
            }),
            en + " has 29,000 lines and " + none + " 0: parallel files need as many");
}

TEST_F(Examples, tsv_rows_of_another_width_are_refused) {
  const std::string file = write("a.tsv", "x\ty\n1\t2\n3\t4\t5\n");
  EXPECT_EQ(mistake([&] {
              all({{file}, TextFormat::automatic, {"x"}});
            }),
            file + ":3: 3 fields, where the header has 2");
  EXPECT_EQ(mistake([&] { all({{file}}); }), file + ":3: 3 fields, where the first row has 2");
}

TEST_F(Examples, missing_columns_are_named_with_those_there_are) {
  const std::string file = write("a.tsv", "sentence\tlabel\n1\t2\n");
  EXPECT_EQ(mistake([&] {
              all({{file}, TextFormat::automatic, {"sentnce"}});
            }),
            file + ":1: there is no column 'sentnce' among sentence, label, did you mean 'sentence'?");
  const std::string json = write("a.jsonl", "{\"text\": \"a\"}\n");
  EXPECT_EQ(mistake([&] {
              all({{json}, TextFormat::automatic, {"label"}});
            }),
            json + ":1: there is no key 'label' among text");
}

TEST_F(Examples, malformed_json_is_refused_with_its_line) {
  auto message = [&](const std::string& line) {
    const std::string file = write("a.jsonl", "{\"x\": 1}\n" + line + "\n");
    return mistake([&] { all({{file}, TextFormat::automatic, {"x"}}); }).substr(file.size());
  };
  EXPECT_EQ(message("{\"x\": 1,}"), ":2: not JSON from byte 9 on: one object a line is needed");
  EXPECT_EQ(message("[1]"), ":2: array, where an object is needed");
  EXPECT_EQ(message("{\"x\": null}"), ":2: the value of 'x' is null: a string or a number is needed");
  EXPECT_EQ(message("{\"x\": [1]}"), ":2: the value of 'x' is an array: a string or a number is needed");
}

TEST_F(Examples, files_that_contradict_each_other_are_refused) {
  EXPECT_EQ(mistake([] { ExampleReader(Files{}); }),
            "no files are named to read examples from: name at least one");
  EXPECT_EQ(mistake([] {
              resolved({{"a.tsv", "b.jsonl.gz"}});
            }),
            "a.tsv looks like tsv and b.jsonl.gz like jsonl: files of one split have one format");
  EXPECT_EQ(mistake([] { resolved({{"a.jsonl"}}); }),
            "a.jsonl: name the keys of its objects that are to be read");
  EXPECT_EQ(mistake([] {
              resolved({{"a.en", "a.de"}, TextFormat::automatic, {"x"}});
            }),
            "1 column names for 2 fields (a.en): as lines, every file is one field");
}

}  // namespace
}  // namespace synthesizer::testing
