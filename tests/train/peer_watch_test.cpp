// Who is alive among processes, with a board in memory in place of the store.

#include "train/peer_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>

#include "train/process_group.h"

namespace synthesizer::testing {
namespace {

using namespace std::chrono_literals;

/// The notes of all, as the store has them.
class Notes {
 public:
  explicit Notes(size_t size) : notes_(size, PeerWatch::first_note()) {}
  PeerWatch::Board board(size_t rank) {
    PeerWatch::Board board;
    board.name = "127.0.0.1:1234";
    board.write = [this, rank](const std::string& note) {
      const std::lock_guard lock(mutex_);
      if (gone_) throw std::runtime_error("gone");
      notes_[rank] = note;
    };
    board.read = [this] {
      const std::lock_guard lock(mutex_);
      if (gone_) throw std::runtime_error("gone");
      return notes_;
    };
    return board;
  }
  void vanish() {
    const std::lock_guard lock(mutex_);
    gone_ = true;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> notes_;
  bool gone_ = false;
};

class PeerWatching : public ::testing::Test {
 protected:
  std::unique_ptr<PeerWatch> watch(int64_t rank) {
    return std::make_unique<PeerWatch>(rank, 2, PeerWatch::Seconds(1.2),
                                       notes_.board(static_cast<size_t>(rank)),
                                       [this](const std::string& message) { ended_.set_value(message); });
  }
  Notes notes_{2};
  std::promise<std::string> ended_;
  std::future<std::string> message_ = ended_.get_future();
};

TEST_F(PeerWatching, two_that_live_do_not_miss_each_other) {
  const auto first = watch(0), second = watch(1);
  EXPECT_EQ(message_.wait_for(2s), std::future_status::timeout);
  first->check();
}

TEST_F(PeerWatching, a_silent_one_ends_the_program_whatever_it_does) {
  const auto first = watch(0);  // rank 1 never gives a sign
  ASSERT_EQ(message_.wait_for(3s), std::future_status::ready);
  const std::string message = message_.get();
  EXPECT_NE(message.find("rank 1 has been silent"), std::string::npos) << message;
  EXPECT_NE(message.find("start all 2 processes again"), std::string::npos) << message;
  EXPECT_NE(message.find("--resume"), std::string::npos) << message;
}

TEST_F(PeerWatching, who_comes_to_wait_is_told_and_ends_by_itself) {
  const auto first = watch(0);
  const auto lost = [&] {
    for (const auto end = std::chrono::steady_clock::now() + 3s; std::chrono::steady_clock::now() < end;) {
      try {
        first->check();
      } catch (const PeerLost& found) {
        return std::string(found.what());
      }
      std::this_thread::sleep_for(1ms);
    }
    return std::string();
  }();
  EXPECT_NE(lost.find("rank 1 has been silent"), std::string::npos) << lost;
  first->end(lost, true);
  EXPECT_EQ(message_.wait_for(1s), std::future_status::timeout);
}

TEST_F(PeerWatching, one_that_fails_ends_the_program_of_who_computes) {
  const auto first = watch(0), second = watch(1);
  second->end("the disk is full", false);
  ASSERT_EQ(message_.wait_for(3s), std::future_status::ready);
  EXPECT_EQ(message_.get(), "rank 1 has failed: the disk is full");
}

TEST_F(PeerWatching, one_that_fails_says_why) {
  const auto first = watch(0), second = watch(1);
  second->end("the disk is full", false);
  EXPECT_EQ(first->blame("reset"), "rank 1 has failed: the disk is full");
}

TEST_F(PeerWatching, one_that_saw_another_fail_is_not_blamed) {
  const auto first = watch(0), second = watch(1);
  second->end("rank 2 has been silent", true);
  EXPECT_EQ(first->blame("reset"), "rank 2 has been silent");
}

TEST_F(PeerWatching, one_that_is_done_is_not_missed) {
  const auto first = watch(0);
  watch(1).reset();
  EXPECT_EQ(message_.wait_for(2s), std::future_status::timeout);
  first->check();
}

TEST_F(PeerWatching, a_board_that_is_gone_is_rank_0) {
  auto second = watch(1);
  notes_.vanish();
  EXPECT_NE(second->blame("reset").find("rank 0 has been silent"), std::string::npos);
}

TEST_F(PeerWatching, a_board_of_the_launcher_is_not_rank_0) {
  auto board = notes_.board(1);
  board.of_launcher = true;
  PeerWatch second(1, 2, PeerWatch::Seconds(1.2), board, [](const std::string&) {});
  notes_.vanish();
  const std::string message = second.blame("reset");
  EXPECT_NE(message.find("torchrun's store at 127.0.0.1:1234 no longer"), std::string::npos) << message;
}

TEST_F(PeerWatching, a_failure_without_a_culprit_keeps_its_symptom) {
  const auto first = watch(0), second = watch(1);
  const std::string message = first->blame("odd symptom");
  EXPECT_NE(message.find("odd symptom"), std::string::npos) << message;
  EXPECT_NE(message.find("between ranks 0 and 1"), std::string::npos) << message;
}

TEST(LostConnection, is_named_by_its_two_ends) {
  Notes notes(3);
  auto watch = [&](int64_t rank) {
    return std::make_unique<PeerWatch>(rank, 3, PeerWatch::Seconds(1.2),
                                       notes.board(static_cast<size_t>(rank)), [](const std::string&) {});
  };
  const auto first = watch(0), second = watch(1), third = watch(2);
  auto other = std::async(std::launch::async, [&] { return third->blame("reset"); });
  const std::string message = first->blame("closed");
  EXPECT_NE(message.find("the connection between ranks 0 and 2 was lost"), std::string::npos) << message;
  EXPECT_NE(message.find("closed"), std::string::npos) << message;
  EXPECT_NE(other.get().find("between ranks 0 and 2"), std::string::npos);
}

TEST(LostConnection, of_one_end_alone_names_that_one) {
  Notes notes(3);
  auto watch = [&](int64_t rank) {
    return std::make_unique<PeerWatch>(rank, 3, PeerWatch::Seconds(1.2),
                                       notes.board(static_cast<size_t>(rank)), [](const std::string&) {});
  };
  const auto first = watch(0), second = watch(1), third = watch(2);
  const std::string message = second->blame("reset");
  EXPECT_NE(message.find("rank 1 has lost its connection"), std::string::npos) << message;
}

}  // namespace
}  // namespace synthesizer::testing
