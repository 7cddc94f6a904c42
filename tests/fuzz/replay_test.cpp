// Every input in tests/fuzz/corpus, and some changes of each, through the entry points that ./run fuzz
// fuzzes.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "fuzz/targets.h"

namespace synthesizer::fuzz {
namespace {

namespace fs = std::filesystem;

std::vector<Target> all_targets() {
  auto all = plain_targets();
  for (const Target& target : tensor_targets()) all.push_back(target);
  return all;
}

/// Sorted, so that the changes are the same everywhere.
std::vector<fs::path> inputs_of(const std::string& target) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(FUZZ_CORPUS) / target))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string contents_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// One to three changes: a byte, a bit, a cut, a byte more or less, a stretch repeated.
std::string changed(std::string text, std::mt19937& random) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (size_t times = 1 + below(3); times > 0 && !text.empty(); --times) {
    const size_t place = below(text.size());
    switch (below(6)) {
      case 0: text[place] = static_cast<char>(random()); break;
      case 1: text[place] = static_cast<char>(text[place] ^ (1 << below(8))); break;
      case 2: text.resize(place); break;
      case 3: text.insert(place, 1, static_cast<char>(random())); break;
      case 4: text.erase(place, 1 + below(8)); break;
      default: text.insert(place, text.substr(place, 1 + below(40)));
    }
  }
  return text;
}

class FuzzedEntryPoint : public ::testing::TestWithParam<Target> {};

TEST_P(FuzzedEntryPoint, ReadsOrRefusesItsInputs) {
  const Target& target = GetParam();
  const auto files = inputs_of(target.name);
  ASSERT_GE(files.size(), 2u) << "tests/fuzz/corpus/" << target.name << " has no inputs";
  for (const fs::path& file : files) EXPECT_NO_THROW(target.run(contents_of(file))) << file;
}

TEST_P(FuzzedEntryPoint, ReadsOrRefusesChangesOfItsInputs) {
  constexpr int kChanges = 50;
  const Target& target = GetParam();
  for (const fs::path& file : inputs_of(target.name)) {
    const std::string text = contents_of(file);
    std::mt19937 random(1);
    for (int i = 0; i < kChanges; ++i)
      EXPECT_NO_THROW(target.run(changed(text, random))) << file << ", change " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, FuzzedEntryPoint, ::testing::ValuesIn(all_targets()),
                         [](const auto& info) { return info.param.name; });

TEST(FuzzCorpus, HasNoInputsWithoutATarget) {
  for (const auto& entry : fs::directory_iterator(FUZZ_CORPUS)) {
    const auto all = all_targets();
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Target& target) {
      return target.name == entry.path().filename();
    })) << entry.path();
  }
}

}  // namespace
}  // namespace synthesizer::fuzz
