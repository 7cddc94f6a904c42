// Files that are cut, changed, foreign or made to harm: each is refused with a message, none does more.

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/error.h"
#include "base/file.h"
#include "train/safetensors.h"

namespace synthesizer {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class DamagedSafetensors : public ::testing::Test {
 protected:
  DamagedSafetensors() {
    std::string pattern = (std::filesystem::temp_directory_path() / "safetensors_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    path_ = folder_ + "/x.safetensors";
  }
  ~DamagedSafetensors() override { std::filesystem::remove_all(folder_); }

  /// A new file each time: file systems flush one that was there and is written again.
  void put(const std::string& text) {
    std::filesystem::remove(path_);
    std::ofstream(path_, std::ios::binary) << text;
  }
  /// A file with any header and any data.
  void write(const std::string& header, const std::string& data = "") {
    const uint64_t length = header.size();
    put(std::string(reinterpret_cast<const char*>(&length), 8) + header + data);
  }
  std::string complaint() {
    try {
      TensorFile file(path_);
      for (const auto& name : file.names()) file.tensor(name);
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "none";
  }
  std::string damage(const std::string& header, const std::string& data = "") {
    write(header, data);
    const std::string text = complaint(), start = path_ + " is damaged: ";
    return text.starts_with(start) ? text.substr(start.size()) : "not damaged, but: " + text;
  }

  std::string folder_, path_;
};

TEST_F(DamagedSafetensors, MissingFilesAndFoldersAreRefused) {
  EXPECT_THAT(complaint(), AllOf(StartsWith(path_ + " cannot be read"), HasSubstr("No such file")));
  path_ = folder_;
  EXPECT_THAT(complaint(), StartsWith(path_ + " is no safetensors file"));
  path_ = folder_ + "/pipe";
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(complaint(), StartsWith(path_ + " is no safetensors file"));
}

TEST_F(DamagedSafetensors, ForeignFilesAreNamedAsSuch) {
  const std::string start = path_ + " is no safetensors file: ";
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

TEST_F(DamagedSafetensors, AFileCutAnywhereIsRefused) {
  save_tensors(path_, {{"x", at::arange(4)}, {"y", at::arange(3, at::kByte)}}, {{"k", "v"}});
  const std::string whole = read_file(path_);
  for (size_t length = 0; length < whole.size(); ++length) {
    put(whole.substr(0, length));
    EXPECT_THAT(complaint(), ::testing::AnyOf(StartsWith(path_ + " is damaged: "),
                                              StartsWith(path_ + " is no safetensors file: ")))
        << length;
  }
  put(whole + "x");
  EXPECT_THAT(complaint(), HasSubstr("1 bytes after its tensors belong to none"));
}

TEST_F(DamagedSafetensors, MalformedHeadersAreDamage) {
  EXPECT_THAT(damage("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(damage("{} {}"), HasSubstr("not valid JSON"));
  EXPECT_THAT(damage("{\"\xFF\":1}"), HasSubstr("not valid JSON"));
  EXPECT_THAT(damage(std::string("{}\0\0", 4)), HasSubstr("zero byte"));
  EXPECT_THAT(damage("{\"x\":" + std::string(100000, '[')), HasSubstr("nested too deep"));
  EXPECT_THAT(damage(R"({"x":1})"), HasSubstr("not described by an object"));
  EXPECT_THAT(damage(R"({"x":{}})"), HasSubstr("tensor 'x' has no dtype"));
  EXPECT_THAT(damage(R"({"__metadata__":[]})"), HasSubstr("__metadata__"));
  EXPECT_THAT(damage(R"({"__metadata__":{"k":1}})"), HasSubstr("'k', which is no string"));
  EXPECT_THAT(damage(R"({"__metadata__":{"k":"a","k":"b"}})"), HasSubstr("'k' twice"));
}

TEST_F(DamagedSafetensors, ANameThatComesTwiceIsDamage) {
  const std::string x = R"("x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_EQ(damage("{" + x + "," + x + "}"), "its header has 'x' twice");
  EXPECT_EQ(damage(R"({"x":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}})"),
            "its header has 'dtype' twice");
  EXPECT_EQ(damage(R"({"__metadata__":{},"__metadata__":{}})"), "its header has '__metadata__' twice");
}

TEST_F(DamagedSafetensors, ShapesAndDtypesMustBeReal) {
  const auto with = [&](const std::string& dtype, const std::string& shape,
                        const std::string& offsets = "[0,4]") {
    return damage(
        fmt::format(R"({{"x":{{"dtype":{},"shape":{},"data_offsets":{}}}}})", dtype, shape, offsets), "1234");
  };
  EXPECT_EQ(with("\"U8\"", "[4]"), "not damaged, but: none");
  EXPECT_THAT(with("\"F4\"", "[4]"), HasSubstr("unknown dtype \"F4\""));
  EXPECT_THAT(with("7", "[4]"), HasSubstr("unknown dtype 7"));
  EXPECT_THAT(with("\"U8\"", "4"), HasSubstr("a shape that is no list"));
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
  EXPECT_THAT(with("\"U8\"", "[4]", "[0,4,8]"), HasSubstr("no pair"));
  EXPECT_THAT(with("\"U8\"", "[4]", "[-4,0]"), HasSubstr("not a whole number"));
  EXPECT_THAT(with("\"U8\"", "[4]", "[18446744073709551612,0]"), HasSubstr("needs 4 bytes"));
  EXPECT_THAT(with("\"U8\"", "[4]", "[4,8]"), HasSubstr("hole"));
}

TEST_F(DamagedSafetensors, TensorsMustCoverTheDataOnce) {
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

TEST_F(DamagedSafetensors, BytesThatAreNoTruthValuesAreDamage) {
  EXPECT_THAT(damage(R"({"x":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", "\1\2"),
              HasSubstr("BOOL"));
}

/// A file with every kind of entry, then changed at random: a flip, a cut, an insertion, a number replaced.
std::string mutated(std::string file, std::mt19937& random) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (size_t times = 1 + below(3); times > 0; --times) {
    const size_t place = below(std::min<size_t>(file.size(), 500));
    switch (below(5)) {
      case 0: file[place] = static_cast<char>(random()); break;
      case 1: file.resize(place + 1); break;
      case 2: file.insert(place, 1, "0123456789{}[]:,\" -e"[below(20)]); break;
      case 3: file.erase(place, 1 + below(8)); break;
      default:
        for (size_t i = place; i < file.size(); ++i) {
          if (file[i] < '0' || file[i] > '9') continue;
          file[i] = static_cast<char>('0' + below(10));
          break;
        }
    }
    if (file.empty()) file = "{";
  }
  return file;
}

TEST_F(DamagedSafetensors, NoMutatedFileDoesMoreThanComplain) {
  save_tensors(path_,
               {{"a", at::ones({2, 3})},
                {"b", at::ones({4}, at::kBool)},
                {"c", at::ones({0, 2}, at::kDouble)},
                {"d", at::ones({}, at::kLong)},
                {"e", at::ones({5}, at::kHalf)}},
               {{"step", "12"}});
  const std::string whole = read_file(path_);
  std::mt19937 random(1);
  int refused = 0, read = 0;
  for (int i = 0; i < 6000; ++i) {
    put(mutated(whole, random));
    try {
      TensorFile file(path_);
      for (const auto& name : file.names()) file.tensor(name).sum();
      ++read;
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(),
                  ::testing::AnyOf(HasSubstr(" is damaged: "), HasSubstr(" is no safetensors file: ")));
      ++refused;
    }
  }
  EXPECT_GT(refused, 4000);
  EXPECT_GT(read, 50);  // changed values and names are no damage that can be seen
}

}  // namespace
}  // namespace synthesizer
