// Tables of characters that lead outside of themselves.

#include "text/charsmap.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace synthesizer::testing {
namespace {

/// A table in which "a" is written as the text at `value`: the root's children start at 0, and those of "a",
/// a leaf among them, at `children`.
std::string charsmap(uint32_t children, uint32_t value, size_t units = 512) {
  std::vector<uint32_t> trie(units);
  trie['a'] = 'a' | 1u << 8 | (children ^ 'a') << 10;
  if (children < units) trie[children] = value | uint32_t{1} << 31;
  const auto bytes = static_cast<uint32_t>(units * sizeof(uint32_t));
  std::string table(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
  table.append(reinterpret_cast<const char*>(trie.data()), bytes);
  return table + std::string("b\0c\0", 4);
}

TEST(Charsmap, one_that_stays_within_itself_is_sound) {
  EXPECT_TRUE(charsmap_is_valid(charsmap(256, 0)));
  EXPECT_TRUE(charsmap_is_valid(charsmap(256, 3)));
}

TEST(Charsmap, none_at_all_is_sound) {
  EXPECT_TRUE(charsmap_is_valid(""));
}

TEST(Charsmap, texts_behind_the_end_are_found) {
  EXPECT_FALSE(charsmap_is_valid(charsmap(256, 4)));
}

TEST(Charsmap, units_behind_the_end_are_found) {
  EXPECT_FALSE(charsmap_is_valid(charsmap(512, 0)));
  EXPECT_FALSE(charsmap_is_valid(charsmap(100'000, 0)));
  EXPECT_FALSE(charsmap_is_valid(charsmap(256, 0, 511)));
}

TEST(Charsmap, a_trie_larger_than_the_table_is_found) {
  std::string table = charsmap(256, 0);
  EXPECT_FALSE(charsmap_is_valid(table.substr(0, table.size() - 4)));
  EXPECT_FALSE(charsmap_is_valid(table.substr(0, 4)));
  EXPECT_FALSE(charsmap_is_valid(table.substr(0, 2)));
}

}  // namespace
}  // namespace synthesizer::testing
