// Files that are no tokenizers, and those that are.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "base/file.h"
#include "text/tokenizer_support.h"

namespace synthesizer::testing {
namespace {

namespace fs = std::filesystem;

TEST(ParseTokenizer, says_what_is_wrong) {
  const std::string head = "synthesizer tokenizer 1 ", no = "t.model is not a tokenizer: ";
  EXPECT_EQ(parse_message(""), no + "it is empty");
  EXPECT_EQ(parse_message("hello\n"),
            no + "it is neither a SentencePiece model nor one of this program's, or it is damaged");
  EXPECT_EQ(parse_message("synthesizer tokenizer 2 words 0\n"),
            no + "it is of version '2', and this program reads version 1");
  EXPECT_EQ(parse_message(head + "sounds 0\n"), no + "its kind 'sounds' is unknown");
  EXPECT_EQ(parse_message(head + "words\n"), no + "its first line has no number of symbols");
  EXPECT_EQ(parse_message(head + "words 1x\na\n"), no + "its first line has no number of symbols");
  EXPECT_EQ(parse_message(head + "words -1\na\n"), no + "its first line has no number of symbols");
  EXPECT_EQ(parse_message(head + "words 2\na\n"), no + "it should have 2 symbols and has 1");
  EXPECT_EQ(parse_message(head + "words 1\na"), no + "it is cut off: its last line has no end");
  EXPECT_EQ(parse_message(head + "words 1\n\xFF\n"), no + "it is not UTF-8");
  EXPECT_EQ(parse_message(head + "words 2\na\na\n"), no + "line 3 repeats a symbol");
  EXPECT_EQ(parse_message(head + "words 1\n\\x\n"), no + "line 2 has a backslash before an unknown letter");
  EXPECT_EQ(parse_message(head + "words 1\na\\\n"), no + "line 2 has a backslash before an unknown letter");
  EXPECT_EQ(parse_message(head + "words 01\na\n"), no + "it is not as this program writes it");
  EXPECT_EQ(parse_message(head + "words 1\na\r\n"), no + "it is not as this program writes it");
  EXPECT_EQ(parse_message(head + "words 1\na b\n"), no + "line 2 is not one word");
  EXPECT_EQ(parse_message(head + "words 1\n\n"), no + "line 2 is not one word");
  EXPECT_EQ(parse_message(head + "words 1\n<unk>\n"), no + "line 2 lists <unk>, which is always there");
  EXPECT_EQ(parse_message(head + "characters 1\nab\n"), no + "line 2 is not one character");
  EXPECT_EQ(parse_message(head + "characters 2\nb\na\n"), no + "line 3 is out of order");
  EXPECT_EQ(parse_message(head + "characters 1\na\n"),
            no + "it has no line break (\\n) among its characters");
  EXPECT_EQ(parse_message(head + "bytes 1\na\n"), no + "bytes have no symbols of their own");
}

TEST(ParseTokenizer, random_bytes_are_refused) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    std::string bytes(1 + random() % 500, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    if (seed % 2 == 0) bytes = "synthesizer tokenizer 1 words 3\n" + bytes;
    EXPECT_TRUE(parse_message(bytes).starts_with("t.model is not a tokenizer: ")) << seed;
  }
}

TEST(LoadTokenizer, reads_a_file_and_names_it_in_messages) {
  std::string folder = (fs::temp_directory_path() / "tokenizer_test.XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const auto tokenizer = make("words", 0, {"a b"});
  const std::string path = folder + "/tokenizer.model";
  write_file(path, tokenizer->serialized());
  EXPECT_EQ(load_tokenizer(path)->serialized(), tokenizer->serialized());
  write_file(path, "");
  EXPECT_EQ(message([&] { load_tokenizer(path); }), path + " is not a tokenizer: it is empty");
  fs::remove_all(folder);
  EXPECT_EQ(message([&] { load_tokenizer(path); }), path + " cannot be read: No such file or directory");
}

}  // namespace
}  // namespace synthesizer::testing
