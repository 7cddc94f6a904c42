// A tokenized corpus on disk: what it holds, and what it refuses.

#include "text/token_store.h"

#include "text/content_hash.h"
#include "text/corpus.h"

namespace synthesizer::testing {
namespace {

namespace fs = std::filesystem;

using TokenStoreTest = StoreTest;

TEST_F(TokenStoreTest, holds_tokens_and_counts_of_every_field) {
  const auto store = TokenStore::open(options({write("a", "3 4 5\n\n 6  7\n"), write("b", "8\n9\n10 11\n")}));
  ASSERT_EQ(store.size(), 3);
  ASSERT_EQ(store.fields(), 2u);
  EXPECT_EQ(copied(store.tokens(0, 0)), (Tokens{3, 4, 5}));
  EXPECT_EQ(copied(store.tokens(1, 0)), Tokens{});
  EXPECT_EQ(copied(store.tokens(2, 0)), (Tokens{6, 7}));
  EXPECT_EQ(copied(store.tokens(2, 1)), (Tokens{10, 11}));
  EXPECT_EQ(store.words(2, 0), 2);
  EXPECT_EQ(store.characters(2, 0), 5);
  EXPECT_EQ(store.length(0, 0), 3);
  EXPECT_EQ(store.tokens_before(2, 0), 3);
  EXPECT_EQ(store.total_tokens(0), 5);
  EXPECT_EQ(store.total_tokens(1), 4);
}

TEST_F(TokenStoreTest, counts_characters_not_bytes) {
  const auto tokenizer =
      train_tokenizer({TokenizerKind::words, 0, 1}, [](const auto& line) { line("größe é"); });
  auto given = options({write("a", "größe é\n")});
  given.tokenizers = {tokenizer.get()};
  const auto store = TokenStore::open(given);
  EXPECT_EQ(store.characters(0, 0), 7);
  EXPECT_EQ(store.words(0, 0), 2);
  EXPECT_EQ(copied(store.tokens(0, 0)), tokenizer->encode("größe é"));
}

TEST_F(TokenStoreTest, knows_where_examples_come_from) {
  const std::string a = write("a.en", "1\n2\n"), b = write("a.de", "1\n2\n");
  const auto parallel = TokenStore::open(options({a, b}));
  EXPECT_EQ(parallel.where(1), a + ":2");
  EXPECT_EQ(parallel.where(1, 1), b + ":2");

  auto given = options({write("a.txt", "1\n2\n"), write("b.txt", "3\n4\n")}, 1);
  given.files.concatenate = true;
  const auto joined = TokenStore::open(given);
  EXPECT_EQ(joined.where(1), path("a.txt") + ":2");
  EXPECT_EQ(joined.where(2), path("b.txt") + ":1");
  EXPECT_EQ(joined.where(3), path("b.txt") + ":2");

  given = options({write("a.jsonl", "{\"x\": 1}\n\n\n{\"x\": 2}\n{\"x\": 3}\n")});
  given.files.columns = {"x"};
  const auto sparse = TokenStore::open(given);
  EXPECT_EQ(sparse.line(0), 1);
  EXPECT_EQ(sparse.line(1), 4);
  EXPECT_EQ(sparse.line(2), 5);
}

TEST_F(TokenStoreTest, is_spread_over_shards_that_split_no_example) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    for (int j = 0; j < i % 7; ++j) text += std::to_string(100 * i + j) + " ";
    text += "\n";
  }
  text += "1 2 3 4 5 6 7 8 9 10 11 12\n";  // longer than a shard
  auto given = options({write("a", text)});
  given.shard_tokens = 10;
  const auto store = TokenStore::open(given);
  EXPECT_GT(stored("").size(), 30u);
  for (const auto& shard : stored("")) {
    const bool tokens = shard.filename().string().starts_with("0.tokens");
    EXPECT_TRUE(!tokens || fs::file_size(shard) <= 48u) << shard;
  }
  for (int i = 0; i < 100; ++i) {
    Tokens expected;
    for (int j = 0; j < i % 7; ++j) expected.push_back(100 * i + j);
    EXPECT_EQ(copied(store.tokens(i, 0)), expected);
  }
  EXPECT_EQ(store.length(100, 0), 12);
  EXPECT_EQ(store.tokens(100, 0).back(), 12);
  EXPECT_TRUE(TokenStore::open(given).reused());
}

TEST_F(TokenStoreTest, is_the_same_for_any_number_of_threads) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i) + " " + std::to_string(i % 10) + "\n";
  auto given = options({write("a", text)});
  std::vector<int64_t> reported;
  given.progress = [&](int64_t lines) { reported.push_back(lines); };
  const auto one = TokenStore::open(given);
  EXPECT_EQ(reported, (std::vector<int64_t>{4096, 8192, 12288, 16384, 20000}));
  given.cache = path("other");
  given.threads = 3;
  const auto three = TokenStore::open(given);
  ASSERT_FALSE(three.reused());
  ASSERT_EQ(three.size(), 20000);
  for (int64_t i = 0; i < one.size(); ++i) ASSERT_EQ(copied(three.tokens(i, 0)), copied(one.tokens(i, 0)));
}

TEST_F(TokenStoreTest, gives_the_hashes_of_its_files) {
  const std::string text = "1 2\n";
  const auto store = TokenStore::open(options({write("a", text)}));
  ASSERT_EQ(store.file_hashes().size(), 1u);
  EXPECT_EQ(store.file_hashes()[0].first, path("a"));
  EXPECT_EQ(store.file_hashes()[0].second, content_hash(text.data(), text.size()));
  EXPECT_EQ(store.hash().size(), 32u);
}

TEST_F(TokenStoreTest, hashes_are_those_of_xxh3) {
  // As xxhsum -H2 prints for an empty file.
  EXPECT_EQ(content_hash("", 0), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(file_hash(write("a", "")), "99aa06d3014798d86001c324468d497f");
  const std::string big(10'000'000, 'x');
  EXPECT_EQ(file_hash(write("b", big)), content_hash(big.data(), big.size()));
}

TEST_F(TokenStoreTest, refuses_a_corpus_without_tokens) {
  for (const char* text : {"", "\n\n", "  \n"}) {
    const std::string file = write("a", text);
    EXPECT_EQ(mistake([&] { TokenStore::open(options({file})); }), file + " is empty: it has no text");
    const std::string table = write("a.tsv", "");
    EXPECT_EQ(mistake([&] { TokenStore::open(options({table})); }), table + " is empty: it has no text");
  }
}

TEST_F(TokenStoreTest, passes_on_what_a_tokenizer_throws) {
  auto given = options({write("a", "1\nno number\n")});
  for (int threads : {1, 2}) {
    given.threads = threads;
    EXPECT_THROW(TokenStore::open(given), std::invalid_argument);
    EXPECT_TRUE(fs::is_empty(path("cache")));
  }
}

TEST_F(TokenStoreTest, refuses_files_that_are_not_there) {
  EXPECT_EQ(mistake([&] { TokenStore::open(options({path("none")})); }),
            path("none") + " cannot be read: No such file or directory");
  EXPECT_EQ(mistake([&] { TokenStore::open(options({folder_.string()})); }),
            folder_.string() + " is a folder or a device: a file that can be read more than once is needed");
}

TEST_F(TokenStoreTest, refuses_another_number_of_fields_than_tokenizers) {
  const std::string file = write("a.tsv", "1\t2\t3\n");
  EXPECT_EQ(mistake([&] { TokenStore::open(options({file})); }), file + " has 3 fields, where 1 are needed");
}

}  // namespace
}  // namespace synthesizer::testing
