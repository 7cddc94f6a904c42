// Lines of plain and gzipped files, and every way in which a file can be wrong.

#include "text/lines.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "base/error.h"

namespace synthesizer::testing {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

class LineReaderTest : public ::testing::Test {
 protected:
  LineReaderTest() {
    std::string name = (fs::temp_directory_path() / "lines_test.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~LineReaderTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string plain(const std::string& text) const {
    std::ofstream(path("text.txt"), std::ios::binary) << text;
    return path("text.txt");
  }

  std::string gzipped(const std::string& text) const {
    gzFile file = gzopen(path("text.gz").c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return path("text.gz");
  }

  static Lines read(const std::string& path) {
    LineReader reader(path);
    Lines lines;
    for (std::string line; reader.next(line);) {
      lines.push_back(line);
      EXPECT_EQ(reader.number(), static_cast<int64_t>(lines.size()));
    }
    return lines;
  }

  static std::string message(const std::string& path) {
    try {
      read(path);
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "no error";
  }

  fs::path folder_;
};

TEST_F(LineReaderTest, plain_and_gzipped_text_give_the_same_lines) {
  const std::string text = "ein Haus\n\ngroß 😀\n";
  EXPECT_EQ(read(plain(text)), (Lines{"ein Haus", "", "groß 😀"}));
  EXPECT_EQ(read(gzipped(text)), (Lines{"ein Haus", "", "groß 😀"}));
}

TEST_F(LineReaderTest, an_empty_file_has_no_lines) {
  EXPECT_EQ(read(plain("")), Lines{});
  EXPECT_EQ(read(gzipped("")), Lines{});
}

TEST_F(LineReaderTest, one_line_break_is_one_empty_line) {
  EXPECT_EQ(read(plain("\n")), Lines{""});
}

TEST_F(LineReaderTest, the_last_line_needs_no_line_break) {
  EXPECT_EQ(read(plain("a\nb")), (Lines{"a", "b"}));
  EXPECT_EQ(read(gzipped("a\nb")), (Lines{"a", "b"}));
}

TEST_F(LineReaderTest, carriage_returns_go_only_before_line_breaks) {
  EXPECT_EQ(read(plain("a\r\nb\rc\r\n\r\n")), (Lines{"a", "b\rc", ""}));
}

TEST_F(LineReaderTest, nul_bytes_are_characters) {
  const std::string text("a\0b\n\0\n", 6);
  EXPECT_EQ(read(plain(text)), (Lines{std::string("a\0b", 3), std::string("\0", 1)}));
}

TEST_F(LineReaderTest, lines_longer_than_any_buffer_are_whole) {
  const std::string longest(3'000'001, 'x');
  EXPECT_EQ(read(plain("a\n" + longest + "\nb\n")), (Lines{"a", longest, "b"}));
  EXPECT_EQ(read(gzipped("a\n" + longest)), (Lines{"a", longest}));
}

TEST_F(LineReaderTest, characters_and_line_ends_may_cross_the_buffers_end) {
  for (size_t n : {131'070u, 131'071u, 131'072u}) {
    const std::string first(n, 'x');
    EXPECT_EQ(read(plain(first + "ä\r\nb")), (Lines{first + "ä", "b"}));
    EXPECT_EQ(read(plain(first + "\r\nb")), (Lines{first, "b"}));
  }
}

TEST_F(LineReaderTest, gzip_members_follow_each_other) {
  const std::string file = gzipped("a\n");
  std::ifstream in(file, std::ios::binary);
  const std::string once{std::istreambuf_iterator<char>(in), {}};
  std::ofstream(path("two.gz"), std::ios::binary) << once << once;
  EXPECT_EQ(read(path("two.gz")), (Lines{"a", "a"}));
}

TEST_F(LineReaderTest, a_reader_can_be_moved) {
  LineReader first(plain("a\nb\n"));
  std::string line;
  ASSERT_TRUE(first.next(line));
  LineReader second = std::move(first);
  ASSERT_TRUE(second.next(line));
  EXPECT_EQ(line, "b");
  EXPECT_EQ(second.number(), 2);
  EXPECT_EQ(second.path(), path("text.txt"));
}

TEST_F(LineReaderTest, a_missing_file_is_named) {
  EXPECT_EQ(message(path("none")), path("none") + " cannot be read: No such file or directory");
}

TEST_F(LineReaderTest, a_folder_is_no_file) {
  EXPECT_EQ(message(folder_.string()), folder_.string() + " is a folder, not a file");
}

TEST_F(LineReaderTest, invalid_utf8_is_named_with_line_and_byte) {
  const std::string file = plain("gut\nno \xE4\n");
  EXPECT_EQ(message(file), file + ":2: byte 4 of the line is not UTF-8; convert the file (iconv -t UTF-8)");
}

TEST_F(LineReaderTest, a_gzip_file_that_was_cut_off_is_damaged_wherever_it_was_cut) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += std::to_string(i * 7919 % 10007) + "\n";
  const std::string file = gzipped(text);
  const auto whole = fs::file_size(file);
  for (const auto size : {whole - 1, whole - 8, whole / 2, uintmax_t{12}, uintmax_t{5}}) {
    fs::resize_file(file, size);
    EXPECT_EQ(message(file),
              file + " is a damaged gzip file (unexpected end of file): fetch or make it again")
        << size;
  }
}

TEST_F(LineReaderTest, a_damaged_gzip_file_is_named) {
  const std::string file = gzipped(std::string(1000, 'a') + "\n");
  std::fstream change(file, std::ios::binary | std::ios::in | std::ios::out);
  change.seekp(-6, std::ios::end);
  change.put('\x55');
  change.close();
  EXPECT_EQ(message(file), file + " is a damaged gzip file (incorrect data check): fetch or make it again");
}

TEST_F(LineReaderTest, a_minus_is_standard_input) {
  const int before = ::dup(STDIN_FILENO);
  const int file = ::open(plain("a\n\xFF\n").c_str(), O_RDONLY);
  ::dup2(file, STDIN_FILENO);
  ::close(file);
  {
    LineReader reader("-");
    std::string line;
    EXPECT_TRUE(reader.next(line));
    EXPECT_EQ(line, "a");
    EXPECT_EQ(reader.path(), "-");
    try {
      reader.next(line);
      ADD_FAILURE() << "no error";
    } catch (const InvalidInput& error) {
      EXPECT_EQ(std::string(error.what()),
                "standard input:2: byte 1 of the line is not UTF-8; convert the file (iconv -t UTF-8)");
    }
  }
  ::dup2(before, STDIN_FILENO);
  ::close(before);
}

TEST_F(LineReaderTest, AByteOrderMarkIsNoText) {
  const std::string mark = "\xEF\xBB\xBF";
  for (const std::string& file :
       {plain(mark + "one\n" + mark + "two\n"), gzipped(mark + "one\n" + mark + "two\n")}) {
    LineReader reader(file);
    std::string line;
    ASSERT_TRUE(reader.next(line));
    EXPECT_EQ(line, "one");
    ASSERT_TRUE(reader.next(line));
    EXPECT_EQ(line, mark + "two") << "only the file's first is none of its text";
  }
}

TEST_F(LineReaderTest, AFileIsAlwaysReady) {
  LineReader reader(plain("one\ntwo"));
  std::string line;
  for (const char* wanted : {"one", "two"}) {
    EXPECT_TRUE(reader.ready(0));
    ASSERT_TRUE(reader.next(line));
    EXPECT_EQ(line, wanted);
  }
  EXPECT_TRUE(reader.ready(0));
  EXPECT_FALSE(reader.next(line));
}

}  // namespace
}  // namespace synthesizer::testing
