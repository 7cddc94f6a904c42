// Headers of safetensors files: what is written is read, and whatever is wrong is refused with a message that
// is the same for bytes in memory and for a file on disk.

#include "run/safetensors_header.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace synthesizer {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

template <typename Parse>
std::string complaint_of(const Parse& parse) {
  try {
    parse();
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "none";
}

class TensorHeaders : public ::testing::Test {
 protected:
  TensorHeaders() {
    std::string pattern = (std::filesystem::temp_directory_path() / "header_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    path_ = folder_ + "/x.safetensors";
  }
  ~TensorHeaders() override { std::filesystem::remove_all(folder_); }

  /// A new file each time: file systems flush one that was there and is written again.
  void put(const std::string& text) {
    std::filesystem::remove(path_);
    std::ofstream(path_, std::ios::binary) << text;
    bytes_ = text;
  }
  /// What both ways to read it say.
  std::string complaint() {
    const std::string in_memory = complaint_of([&] { parse_tensor_header(path_, bytes_); });
    EXPECT_EQ(complaint_of([&] { read_tensor_header(path_); }), in_memory);
    return in_memory;
  }
  std::string damage(const std::string& header, const std::string& data = "") {
    const uint64_t length = header.size();
    put(std::string(reinterpret_cast<const char*>(&length), 8) + header + data);
    const std::string text = complaint(), start = path_ + " is damaged: ";
    return text.starts_with(start) ? text.substr(start.size()) : "not damaged, but: " + text;
  }

  std::string folder_, path_, bytes_;
};

TEST_F(TensorHeaders, WhatIsWrittenIsRead) {
  const std::vector<TensorEntry> entries = {{"b", "F32", {2, 3}, 8, 32}, {"a", "I64", {}, 0, 8}};
  put(write_tensor_header(entries, {{"step", "7"}}) + std::string(32, 'x'));
  for (const TensorHeader& header : {parse_tensor_header("x", bytes_), read_tensor_header(path_)}) {
    ASSERT_EQ(header.tensors.size(), 2u);
    EXPECT_EQ(header.tensors[0].name, "b");
    EXPECT_EQ(header.tensors[0].dtype, "F32");
    EXPECT_THAT(header.tensors[0].shape, ElementsAre(2, 3));
    EXPECT_EQ(header.tensors[0].begin, 8u);
    EXPECT_EQ(header.tensors[0].end, 32u);
    EXPECT_EQ(header.tensors[1].name, "a");
    EXPECT_EQ(header.metadata.at("step"), "7");
    EXPECT_EQ(header.data, bytes_.size() - 32);
  }
}

TEST_F(TensorHeaders, AreReadFromTheBeginningOfAFile) {
  const std::string header = write_tensor_header({{"a", "U8", {4}, 0, 4}}, {});
  EXPECT_EQ(parse_tensor_header("x", header, header.size() + 4).tensors.size(), 1u);
  EXPECT_THAT(complaint_of([&] { parse_tensor_header("x", header, header.size() + 3); }),
              HasSubstr("its last 1 bytes are missing"));
  EXPECT_THAT(complaint_of([&] { parse_tensor_header("x", header.substr(0, 20), header.size() + 4); }),
              HasSubstr("it ends within its header"));
}

TEST_F(TensorHeaders, OfMissingFilesFoldersAndPipesAreRefused) {
  const auto refused = [](const std::string& path) {
    return complaint_of([&] { read_tensor_header(path); });
  };
  EXPECT_THAT(refused(path_), AllOf(StartsWith(path_ + " cannot be read"), HasSubstr("No such file")));
  EXPECT_THAT(refused(folder_), StartsWith(folder_ + " is not a safetensors file"));
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(refused(path_), StartsWith(path_ + " is not a safetensors file"));
}

TEST_F(TensorHeaders, OfFilesCutAnywhereAreRefused) {
  const std::string whole =
      write_tensor_header({{"x", "I64", {4}, 0, 32}, {"y", "U8", {3}, 32, 35}}, {{"k", "v"}}) +
      std::string(35, 'x');
  for (size_t length = 0; length < whole.size(); ++length) {
    put(whole.substr(0, length));
    EXPECT_THAT(complaint(), ::testing::AnyOf(StartsWith(path_ + " is damaged: "),
                                              StartsWith(path_ + " is not a safetensors file: ")))
        << length;
  }
}

TEST_F(TensorHeaders, ForeignFilesAreNamedAsSuch) {
  const std::string start = path_ + " is not a safetensors file: ";
  for (const std::string& text :
       {std::string(), std::string("short"), std::string("a text of some length, no tensors"),
        std::string(4096, '\0'), std::string("PK\3\4 and the rest of what torch.save writes"),
        std::string(9, '{'), std::string("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 pickle")}) {
    put(text);
    EXPECT_THAT(complaint(), StartsWith(start)) << text;
  }
  put("PK\3\4 and the rest");
  EXPECT_THAT(complaint(), HasSubstr("safetensors.torch.save_file"));
}

TEST_F(TensorHeaders, MalformedHeadersAreDamage) {
  EXPECT_THAT(damage("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(damage("{} {}"), HasSubstr("not valid JSON"));
  EXPECT_THAT(damage("{\"\xFF\":1}"), HasSubstr("not valid JSON"));
  EXPECT_THAT(damage(std::string("{}\0\0", 4)), HasSubstr("zero byte"));
  EXPECT_THAT(damage("{\"x\":" + std::string(100000, '[')), HasSubstr("nested too deep"));
  EXPECT_THAT(damage(R"({"x":1})"), HasSubstr("not described by an object"));
  EXPECT_THAT(damage(R"({"x":{}})"), HasSubstr("tensor 'x' has no dtype"));
  EXPECT_THAT(damage(R"({"__metadata__":[]})"), HasSubstr("__metadata__"));
  EXPECT_THAT(damage(R"({"__metadata__":{"k":1}})"), HasSubstr("'k', which is not a string"));
  EXPECT_THAT(damage(R"({"__metadata__":{"k":"a","k":"b"}})"), HasSubstr("'k' twice"));
}

TEST_F(TensorHeaders, ANameThatComesTwiceIsDamage) {
  const std::string x = R"("x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_EQ(damage("{" + x + "," + x + "}"), "its header has 'x' twice");
  EXPECT_EQ(damage(R"({"x":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}})"),
            "its header has 'dtype' twice");
  EXPECT_EQ(damage(R"({"__metadata__":{},"__metadata__":{}})"), "its header has '__metadata__' twice");
}

TEST_F(TensorHeaders, ShapesAndDtypesMustBeReal) {
  const auto with = [&](const std::string& dtype, const std::string& shape,
                        const std::string& offsets = "[0,4]") {
    return damage(
        fmt::format(R"({{"x":{{"dtype":{},"shape":{},"data_offsets":{}}}}})", dtype, shape, offsets), "1234");
  };
  EXPECT_EQ(with("\"U8\"", "[4]"), "not damaged, but: none");
  EXPECT_THAT(with("\"F4\"", "[4]"), HasSubstr("unknown dtype \"F4\""));
  EXPECT_THAT(with("7", "[4]"), HasSubstr("unknown dtype 7"));
  EXPECT_THAT(with("\"U8\"", "4"), HasSubstr("a shape that is not a list"));
  EXPECT_THAT(with("\"U8\"", "[-4]"), HasSubstr("not a whole number"));
  EXPECT_THAT(with("\"U8\"", "[4.0]"), HasSubstr("not a whole number"));
  EXPECT_THAT(with("\"U8\"", "[\"4\"]"), HasSubstr("not a whole number"));
  EXPECT_THAT(with("\"U8\"", "[18446744073709551615]"), HasSubstr("too large"));
  EXPECT_THAT(with("\"U8\"", "[99999999999999999999999]"), HasSubstr("not a whole number"));
  EXPECT_THAT(with("\"U8\"", "[4294967296,4294967296]"), HasSubstr("too large"));
  EXPECT_THAT(with("\"F64\"", "[2305843009213693952]"), HasSubstr("too large"));
  EXPECT_THAT(with("\"U8\"", "[0,4294967296,4294967296]"), HasSubstr("too large"));
  EXPECT_THAT(with("\"U8\"", "[5]"), HasSubstr("needs 5 bytes"));
  EXPECT_THAT(with("\"F32\"", "[4]"), HasSubstr("tensor 'x' of F32 [4] needs 16 bytes"));
  EXPECT_THAT(with("\"U8\"", "[4]", "[4,0]"), HasSubstr("needs 4 bytes"));
  EXPECT_THAT(with("\"U8\"", "[4]", "[0,4,8]"), HasSubstr("not a pair"));
  EXPECT_THAT(with("\"U8\"", "[4]", "[-4,0]"), HasSubstr("not a whole number"));
  EXPECT_THAT(with("\"U8\"", "[4]", "[18446744073709551612,0]"), HasSubstr("needs 4 bytes"));
  EXPECT_THAT(with("\"U8\"", "[4]", "[4,8]"), HasSubstr("hole"));
}

TEST_F(TensorHeaders, TensorsMustCoverTheDataOnce) {
  const auto two = [&](int a, int b, int c, int d, size_t bytes) {
    return damage(fmt::format(R"({{"x":{{"dtype":"U8","shape":[{}],"data_offsets":[{},{}]}},)"
                              R"("y":{{"dtype":"U8","shape":[{}],"data_offsets":[{},{}]}}}})",
                              b - a, a, b, d - c, c, d),
                  std::string(bytes, 'x'));
  };
  EXPECT_EQ(two(0, 4, 4, 8, 8), "not damaged, but: none");
  EXPECT_EQ(two(4, 8, 0, 4, 8), "not damaged, but: none");
  EXPECT_EQ(two(0, 4, 4, 4, 4), "not damaged, but: none");
  EXPECT_EQ(two(0, 4, 5, 8, 8), "there is a hole before tensor 'y'");
  EXPECT_EQ(two(0, 4, 3, 8, 8), "tensor 'y' overlaps another");
  EXPECT_EQ(two(0, 4, 0, 4, 4), "tensor 'y' overlaps another");
  EXPECT_EQ(two(0, 4, 4, 8, 6), "its last 2 bytes are missing");
  EXPECT_EQ(two(0, 4, 4, 8, 9), "1 bytes after its tensors belong to none");
}

}  // namespace
}  // namespace synthesizer
