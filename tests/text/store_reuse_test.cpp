// When a tokenized corpus on disk is used again, and when it is made again.

#include "text/token_store.h"

#include <thread>

#include "text/corpus.h"

namespace synthesizer::testing {
namespace {

namespace fs = std::filesystem;

using StoreReuse = StoreTest;

TEST_F(StoreReuse, is_reused_while_nothing_changed) {
  const auto given = options({write("a", "1 2\n3\n")});
  const auto made = TokenStore::open(given);
  EXPECT_FALSE(made.reused());
  const auto again = TokenStore::open(given);
  EXPECT_TRUE(again.reused());
  EXPECT_EQ(again.hash(), made.hash());
  EXPECT_EQ(copied(again.tokens(0, 0)), (Tokens{1, 2}));
  EXPECT_EQ(again.where(1), path("a") + ":2");
}

TEST_F(StoreReuse, does_not_depend_on_the_names_of_files) {
  TokenStore::open(options({write("a", "1 2\n")}));
  const auto moved = TokenStore::open(options({write("b", "1 2\n")}));
  EXPECT_TRUE(moved.reused());
  EXPECT_EQ(moved.where(0), path("b") + ":1");
}

TEST_F(StoreReuse, is_made_again_when_a_byte_changed) {
  TokenStore::open(options({write("a", "1 2\n")}));
  const auto changed = TokenStore::open(options({write("a", "1 3\n")}));
  EXPECT_FALSE(changed.reused());
  EXPECT_EQ(copied(changed.tokens(0, 0)), (Tokens{1, 3}));
}

TEST_F(StoreReuse, is_made_again_for_another_tokenizer_format_or_choice_of_columns) {
  auto given = options({write("a.tsv", "1\t1\n2\t3\n")});
  given.tokenizers = {&numbers_, &numbers_};
  EXPECT_FALSE(TokenStore::open(given).reused());
  const NumberTokenizer other("others");
  given.tokenizers = {&numbers_, &other};
  EXPECT_FALSE(TokenStore::open(given).reused());
  given.files.format = TextFormat::lines;
  given.tokenizers = {&numbers_};
  EXPECT_FALSE(TokenStore::open(given).reused());
  given.files.format = TextFormat::tsv;
  given.files.columns = {"1"};
  EXPECT_FALSE(TokenStore::open(given).reused());

  given = options({write("a", "1\n"), write("b", "2\n")});
  EXPECT_FALSE(TokenStore::open(given).reused());
  given.files.concatenate = true;
  given.tokenizers = {&numbers_};
  EXPECT_FALSE(TokenStore::open(given).reused());
}

TEST_F(StoreReuse, is_made_again_when_damaged) {
  const auto given = options({write("a", "1 2 3\n4\n")});
  TokenStore::open(given);
  auto cut = [](const fs::path& file) { fs::resize_file(file, fs::file_size(file) - 4); };
  auto flip = [](const fs::path& file) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.put('\x7f');
  };
  auto remove = [](const fs::path& file) { fs::remove(file); };
  for (const char* name : {"0.tokens.0", "0.begins", "0.counts", "lines", "index.json"}) {
    for (const auto& damage : std::vector<std::function<void(const fs::path&)>>{cut, flip, remove}) {
      ASSERT_EQ(stored(name).size(), 1u) << name;
      damage(stored(name)[0]);
      const auto store = TokenStore::open(given);
      EXPECT_FALSE(store.reused()) << name;
      EXPECT_EQ(copied(store.tokens(0, 0)), (Tokens{1, 2, 3})) << name;
      EXPECT_TRUE(TokenStore::open(given).reused()) << name;
    }
  }
}

TEST_F(StoreReuse, leaves_nothing_of_an_attempt_that_was_killed) {
  const auto given = options({write("a", "1\n")});
  const std::string hash = TokenStore::open(given).hash();
  fs::remove(path("cache/" + hash + "/index.json"));
  write("cache/" + hash + "/0.tokens.7.tmp123", "left over");
  EXPECT_FALSE(TokenStore::open(given).reused());
  EXPECT_TRUE(stored("tmp123").empty());
  EXPECT_TRUE(stored(".lock").empty());
}

TEST_F(StoreReuse, may_be_opened_by_many_at_once) {
  const auto given = options({write("a", "1 2\n3\n")});
  std::vector<int64_t> totals(8);
  std::vector<std::thread> threads;
  for (auto& total : totals) {
    threads.emplace_back([&] { total = TokenStore::open(given).total_tokens(0); });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(totals, std::vector<int64_t>(8, 3));
}

TEST_F(StoreReuse, leaves_no_folder_behind_after_a_mistake) {
  const std::string file = write("a", "1 2\n\xff\n");
  EXPECT_NE(mistake([&] { TokenStore::open(options({file})); }).find(file + ":2: "), std::string::npos);
  EXPECT_TRUE(fs::is_empty(path("cache")));
}

TEST_F(StoreReuse, leaves_what_is_open_undisturbed_when_it_is_made_again) {
  const auto given = options({write("a", "1 2 3\n4\n")});
  const auto open = TokenStore::open(given);
  fs::remove(stored("index.json")[0]);
  EXPECT_FALSE(TokenStore::open(given).reused());
  EXPECT_EQ(copied(open.tokens(1, 0)), (Tokens{4}));
}

}  // namespace
}  // namespace synthesizer::testing
