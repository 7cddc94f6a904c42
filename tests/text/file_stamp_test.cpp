// Hashes that are remembered: a file is read again when anything says that it may have changed.

#include "text/file_stamp.h"

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "text/content_hash.h"
#include "text/corpus.h"

namespace synthesizer::testing {
namespace {

namespace fs = std::filesystem;

class RememberedHash : public StoreTest {
 protected:
  /// As if it had been written some minutes ago.
  void age(const std::string& file, int minutes = 5) const {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::minutes(minutes));
  }
  std::string hash(const std::string& file) const { return remembered_hash(path("memory"), file); }
};

TEST_F(RememberedHash, is_that_of_the_contents) {
  const auto file = write("a", "one");
  age(file);
  EXPECT_EQ(hash(file), file_hash(file));
  EXPECT_EQ(hash(file), file_hash(file));
  EXPECT_EQ(std::distance(fs::directory_iterator(path("memory")), {}), 1);
}

TEST_F(RememberedHash, comes_from_memory_while_the_file_stays) {
  const auto file = write("a", "one");
  age(file);
  hash(file);
  const auto memory = fs::directory_iterator(path("memory"))->path();
  auto noted = nlohmann::json::parse(std::ifstream(memory));
  noted["hash"] = "from memory";
  std::ofstream(memory) << noted;
  EXPECT_EQ(hash(file), "from memory");
}

TEST_F(RememberedHash, is_taken_anew_although_size_and_time_were_kept) {
  const auto file = write("a", "one");
  age(file);
  const auto before = hash(file);
  const auto time = fs::last_write_time(file);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the system's clock ticks every few
  write("a", "two");
  fs::last_write_time(file, time);
  EXPECT_NE(hash(file), before);
}

TEST_F(RememberedHash, is_taken_anew_when_size_or_time_differ) {
  const auto file = write("a", "one");
  age(file);
  hash(file);
  write("a", "two");
  age(file, 4);
  EXPECT_EQ(hash(file), file_hash(file));
  write("a", "three");
  age(file, 4);
  EXPECT_EQ(hash(file), file_hash(file));
}

TEST_F(RememberedHash, of_a_young_file_is_not_remembered) {
  const auto file = write("a", "one");
  hash(file);
  EXPECT_FALSE(fs::exists(path("memory")));
}

TEST_F(RememberedHash, survives_damage_of_the_memory) {
  const auto file = write("a", "one");
  age(file);
  hash(file);
  for (const auto& entry : fs::directory_iterator(path("memory"))) std::ofstream(entry.path()) << "{";
  EXPECT_EQ(hash(file), file_hash(file));
}

TEST_F(RememberedHash, of_a_missing_file_is_a_mistake) {
  EXPECT_NE(mistake([&] { hash(path("none")); }).find("none"), std::string::npos);
}

TEST_F(RememberedHash, a_store_that_was_verified_is_read_again_only_when_its_files_changed) {
  const auto given = options({write("a", "1 2 3\n4\n")});
  TokenStore::open(given);
  for (const char* name : {"0.tokens.0", "0.begins", "0.counts", "lines"}) age(stored(name)[0].string());
  EXPECT_TRUE(TokenStore::open(given).reused());
  ASSERT_EQ(stored("verified.json").size(), 1u);
  // Damage is seen although size and time are as they were.
  const auto tokens = stored("0.tokens.0")[0];
  const auto time = fs::last_write_time(tokens);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::fstream(tokens, std::ios::in | std::ios::out | std::ios::binary).put('\x7f');
  fs::last_write_time(tokens, time);
  const auto store = TokenStore::open(given);
  EXPECT_FALSE(store.reused());
  EXPECT_EQ(copied(store.tokens(0, 0)), (Tokens{1, 2, 3}));
}

TEST_F(RememberedHash, a_damaged_note_of_what_was_verified_does_no_harm) {
  const auto given = options({write("a", "1 2 3\n4\n")});
  const auto folder = path("cache/" + TokenStore::open(given).hash());
  std::ofstream(folder + "/verified.json") << "[1";
  EXPECT_TRUE(TokenStore::open(given).reused());
}

}  // namespace
}  // namespace synthesizer::testing
