// Pieces of an evaluation that are divided over processes: what they send each other is checked.

#include "task/shared_work.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace synthesizer::testing {
namespace {

/// Rank 0 of two, with given bytes in place of what rank 1 would send.
class GivenAnswer : public ProcessGroup {
 public:
  explicit GivenAnswer(std::string answer) : ProcessGroup(place_of_two()), answer_(std::move(answer)) {}

  using ProcessGroup::broadcast;
  void all_reduce_sum(const std::vector<at::Tensor>& /*tensors*/) override {}
  void broadcast(const std::vector<at::Tensor>& /*tensors*/, const std::vector<int64_t>& /*from*/) override {}
  void transfer(const at::Tensor& /*tensor*/, int64_t /*from*/, int64_t /*to*/) override {}
  std::string broadcast(const std::string& bytes) override { return bytes; }
  std::vector<std::string> gather(const std::string& bytes) override { return {bytes, answer_}; }
  void barrier() override {}
  std::unique_ptr<GradientSum> sum_gradients(const std::vector<at::Tensor>& /*parameters*/) override {
    return nullptr;
  }
  void fail(const std::exception& /*why*/) override {}
  void close() override {}

 private:
  static ProcessPlace place_of_two() {
    ProcessPlace place;
    place.size = 2;
    return place;
  }

  std::string answer_;
};

/// What a process sends for so many pieces, each with a text.
std::string sent_pieces(int count) {
  Packer packer;
  for (int n = 0; n < count; ++n) packer.add(std::string("piece"));
  return std::move(packer).bytes();
}

/// Divides five pieces over two processes: rank 1 has two of them.
std::map<size_t, std::string> divide_five(const std::string& answer) {
  GivenAnswer group(answer);
  std::map<size_t, std::string> from_other;
  share_pieces(
      &group, 5, [](size_t) {}, [](size_t) { return std::string("own"); },
      [&](size_t n, const std::string& bytes) { from_other[n] = bytes; });
  return from_other;
}

TEST(SharedWork, has_the_pieces_of_the_others) {
  const std::map<size_t, std::string> wanted = {{1, "piece"}, {3, "piece"}};
  EXPECT_EQ(divide_five(sent_pieces(2)), wanted);
}

TEST(SharedWork, results_of_other_work_are_refused_by_rank) {
  for (const int pieces : {0, 1, 3}) {
    try {
      divide_five(sent_pieces(pieces));
      FAIL() << pieces;
    } catch (const std::runtime_error& failure) {
      EXPECT_NE(std::string(failure.what()).find("rank 1 has sent"), std::string::npos) << failure.what();
    }
  }
}

TEST(UnpackerBounds, reads_what_was_packed) {
  Packer packer;
  packer.add(int64_t{7});
  packer.add(std::string("text"));
  packer.add(std::string());
  const std::string bytes = std::move(packer).bytes();
  Unpacker unpacker(bytes);
  EXPECT_EQ(unpacker.next<int64_t>(), 7);
  EXPECT_FALSE(unpacker.done());
  EXPECT_EQ(unpacker.next<std::string>(), "text");
  EXPECT_EQ(unpacker.next<std::string>(), "");
  EXPECT_TRUE(unpacker.done());
  EXPECT_THROW(unpacker.next<char>(), std::out_of_range);
}

TEST(UnpackerBounds, does_not_read_beyond_the_end) {
  Packer packer;
  packer.add(size_t{1} << 60);  // the length of a text that is not there
  const std::string bytes = std::move(packer).bytes();
  Unpacker unpacker(bytes);
  EXPECT_THROW(unpacker.next<std::string>(), std::out_of_range);
  const std::string few = "abc";
  Unpacker short_one(few);
  EXPECT_THROW(short_one.next<int64_t>(), std::out_of_range);
}

}  // namespace
}  // namespace synthesizer::testing
