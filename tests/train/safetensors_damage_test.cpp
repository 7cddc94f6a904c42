// Files that are cut, changed or made to harm: each is refused with a message, none does more. What is wrong
// with headers alone is tested in tests/run/safetensors_header_test.cpp.

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
  EXPECT_THAT(complaint(), StartsWith(path_ + " is not a safetensors file"));
  path_ = folder_ + "/pipe";
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(complaint(), StartsWith(path_ + " is not a safetensors file"));
}

TEST_F(DamagedSafetensors, AFileCutAnywhereIsRefused) {
  save_tensors(path_, {{"x", at::arange(4)}, {"y", at::arange(3, at::kByte)}}, {{"k", "v"}});
  const std::string whole = read_file(path_);
  for (size_t length = 0; length < whole.size(); ++length) {
    put(whole.substr(0, length));
    EXPECT_THAT(complaint(), ::testing::AnyOf(StartsWith(path_ + " is damaged: "),
                                              StartsWith(path_ + " is not a safetensors file: ")))
        << length;
  }
  put(whole + "x");
  EXPECT_THAT(complaint(), HasSubstr("1 bytes after its tensors belong to none"));
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
                  ::testing::AnyOf(HasSubstr(" is damaged: "), HasSubstr(" is not a safetensors file: ")));
      ++refused;
    }
  }
  EXPECT_GT(refused, 4000);
  EXPECT_GT(read, 50);  // changed values and names are no damage that can be seen
}

TEST_F(DamagedSafetensors, EveryFlippedBitOfASavedFileIsFound) {
  save_tensors(path_, {{"a", at::arange(12, at::kFloat)}, {"b", at::ones({3}, at::kChar)}}, {{"step", "7"}});
  const std::string whole = read_file(path_);
  EXPECT_NO_THROW(TensorFile(path_).check_bytes());
  const size_t name = whole.find("\"crc32c\"");
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    // Under another name it is no checksum, and the file one without.
    if (bit / 8 >= name && bit / 8 < name + 11) continue;
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    put(damaged);
    EXPECT_THROW(TensorFile(path_).check_bytes(), InvalidInput) << "bit " << bit;
  }
}

TEST_F(DamagedSafetensors, AMessageSaysWhichFileAndWhatToDo) {
  save_tensors(path_, {{"a", at::zeros({4})}});
  std::string text = read_file(path_);
  text.back() = 1;
  put(text);
  try {
    TensorFile(path_).check_bytes();
    FAIL() << "it was not found";
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), AllOf(StartsWith(path_ + " is damaged: "), HasSubstr("checksum"),
                                    HasSubstr("another checkpoint")));
  }
}

}  // namespace
}  // namespace synthesizer
