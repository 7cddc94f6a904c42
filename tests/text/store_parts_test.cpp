// A large corpus is tokenized in parts: the same store, not made again after a kill, shared by processes.

#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <map>
#include <new>
#include <thread>

#include "text/corpus.h"

namespace synthesizer::testing {
namespace {

namespace fs = std::filesystem;

constexpr int kLines = 20000;  // five blocks of 4,096 lines, each a part of its own
constexpr int kParts = 5;

/// Counts in memory that forked processes share.
class SharedCounts {
 public:
  SharedCounts() {
    void* memory =
        ::mmap(nullptr, sizeof *counts_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    counts_ = new (memory) Counts();
  }
  ~SharedCounts() { ::munmap(counts_, sizeof *counts_); }
  SharedCounts(const SharedCounts&) = delete;
  SharedCounts& operator=(const SharedCounts&) = delete;
  std::atomic<int>& of(int process) const { return counts_->encoded[process]; }
  int all() const { return of(0) + of(1) + of(2); }

 private:
  struct Counts {
    std::atomic<int> encoded[3] = {};
  };
  Counts* counts_ = nullptr;
};

/// Counts the lines that it tokenizes; the process ends, as if it were killed, before it has done `most`.
class WatchedTokenizer : public NumberTokenizer {
 public:
  explicit WatchedTokenizer(std::atomic<int>& count, int most = 1 << 30, int pause = 0)
      : count_(count), most_(most), pause_(pause) {}
  Tokens encode(std::string_view line) const override {
    if (++count_ >= most_) ::_exit(9);
    if (pause_ > 0 && count_ % pause_ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return NumberTokenizer::encode(line);
  }

 private:
  std::atomic<int>& count_;
  int most_, pause_;
};

class StorePartsTest : public StoreTest {
 protected:
  std::string corpus() const {
    std::string text;
    for (int i = 0; i < kLines; ++i) {
      for (int j = 0; j <= i % 3; ++j) text += std::to_string(i + j) + " ";
      text += "\n";
    }
    return write("a", text);
  }
  /// Every block is a part.
  StoreOptions in_parts(const Tokenizer& tokenizer) const {
    auto made = options({path("a")});
    made.tokenizers = {&tokenizer};
    made.part_bytes = 1;
    return made;
  }
  /// Opens the store in another process; its status.
  static pid_t fork_to_open(const StoreOptions& options) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        const auto store = TokenStore::open(options);
        ::_exit(store.size() == kLines ? 0 : 1);
      } catch (...) {
        ::_exit(2);
      }
    }
    return child;
  }
  static int status_of(pid_t child) {
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  /// The files of the only store, by name.
  std::map<std::string, std::string> contents(const std::string& cache, const std::string& hash) const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::directory_iterator(path(cache + "/" + hash))) {
      const std::string name = entry.path().filename().string();
      if (name == "verified.json") continue;  // times
      std::ifstream file(entry.path(), std::ios::binary);
      all[name] = {std::istreambuf_iterator<char>(file), {}};
    }
    return all;
  }
  /// The store that parts were made of is the one that is made without.
  void expect_same_as_whole(const TokenStore& store) const {
    auto whole = options({path("a")});
    whole.cache = path("whole");
    const auto other = TokenStore::open(whole);
    EXPECT_EQ(contents("cache", store.hash()), contents("whole", other.hash()));
    EXPECT_TRUE(stored(".parts").empty());
  }

  SharedCounts counts_;
};

TEST_F(StorePartsTest, are_the_same_store) {
  corpus();
  for (const int threads : {1, 3}) {
    auto given = in_parts(numbers_);
    given.threads = threads;
    fs::remove_all(path("cache"));
    const auto store = TokenStore::open(given);
    EXPECT_FALSE(store.reused());
    expect_same_as_whole(store);
    EXPECT_TRUE(TokenStore::open(given).reused());
  }
}

TEST_F(StorePartsTest, know_where_examples_come_from) {
  std::string text;
  for (int i = 0; i < 10000; ++i) text += i % 1000 == 7 ? "\n" : "{\"x\": 1}\n";
  auto given = options({write("a.jsonl", text), write("b.jsonl", text)}, 1);
  given.files.columns = {"x"};
  given.part_bytes = 1;
  const auto parts = TokenStore::open(given);
  given.part_bytes = int64_t{1} << 40;
  given.cache = path("whole");
  const auto whole = TokenStore::open(given);
  ASSERT_EQ(parts.size(), whole.size());
  for (int64_t i = 0; i < parts.size(); ++i) ASSERT_EQ(parts.where(i), whole.where(i));
  EXPECT_EQ(contents("cache", parts.hash()), contents("whole", whole.hash()));
}

TEST_F(StorePartsTest, are_not_made_again_after_a_kill) {
  corpus();
  const WatchedTokenizer killed(counts_.of(0), kLines / 2);
  EXPECT_EQ(status_of(fork_to_open(in_parts(killed))), 9);
  EXPECT_EQ(counts_.of(0), kLines / 2);
  const WatchedTokenizer next(counts_.of(1));
  const auto store = TokenStore::open(in_parts(next));
  EXPECT_EQ(counts_.of(1), kLines - 2 * 4096);  // two parts were whole
  expect_same_as_whole(store);
}

TEST_F(StorePartsTest, are_made_again_when_damaged) {
  corpus();
  const WatchedTokenizer killed(counts_.of(0), kLines - 10);
  ASSERT_EQ(status_of(fork_to_open(in_parts(killed))), 9);
  const auto first = stored(".parts/0"), second = stored(".parts/1"), third = stored(".parts/2");
  ASSERT_TRUE(first.size() == 1 && second.size() == 1 && third.size() == 1);
  fs::resize_file(first[0], fs::file_size(first[0]) / 2);
  fs::copy_file(third[0], second[0], fs::copy_options::overwrite_existing);  // of other examples
  const WatchedTokenizer next(counts_.of(1));
  const auto store = TokenStore::open(in_parts(next));
  EXPECT_EQ(counts_.of(1), 2 * 4096 + kLines - (kParts - 1) * 4096);
  expect_same_as_whole(store);
}

TEST_F(StorePartsTest, are_shared_by_processes) {
  corpus();
  std::vector<WatchedTokenizer> tokenizers;
  for (int i = 0; i < 3; ++i) tokenizers.emplace_back(counts_.of(i), 1 << 30, 50);
  std::vector<pid_t> children;
  for (const auto& tokenizer : tokenizers) children.push_back(fork_to_open(in_parts(tokenizer)));
  for (const pid_t child : children) EXPECT_EQ(status_of(child), 0);
  EXPECT_EQ(counts_.all(), kLines);  // nothing twice
  for (int i = 0; i < 3; ++i) EXPECT_LT(counts_.of(i), kLines);
  const auto store = TokenStore::open(in_parts(numbers_));
  EXPECT_TRUE(store.reused());
  expect_same_as_whole(store);
}

TEST_F(StorePartsTest, are_made_by_others_when_one_is_killed) {
  corpus();
  const WatchedTokenizer killed(counts_.of(0), 3000, 50), other(counts_.of(1), 1 << 30, 50);
  const pid_t first = fork_to_open(in_parts(killed)), second = fork_to_open(in_parts(other));
  EXPECT_EQ(status_of(first), 9);
  EXPECT_EQ(status_of(second), 0);
  expect_same_as_whole(TokenStore::open(in_parts(numbers_)));
}

TEST_F(StorePartsTest, leave_nothing_behind_after_a_mistake) {
  write("a", std::string(10000, '\n') + "1\n\xff\n");
  EXPECT_NE(mistake([&] { TokenStore::open(in_parts(numbers_)); }).find("a:10002: "), std::string::npos);
  EXPECT_TRUE(fs::is_empty(path("cache")));
}

}  // namespace
}  // namespace synthesizer::testing
