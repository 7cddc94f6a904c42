// How a request waits for its jobs; what a server counts.

#include "serve/pending_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "serve/batcher.h"
#include "serve/error.h"
#include "serve/job.h"
#include "serve/metrics.h"

namespace synthesizer::serve {
namespace {

using ::testing::HasSubstr;

const Connected kThere = [] { return true; };

Clock::time_point in(int milliseconds) {
  return Clock::now() + std::chrono::milliseconds(milliseconds);
}

TEST(PendingRequest, WaitsForAllJobs) {
  PendingRequest pending(3, in(60'000));
  std::thread engine([&] {
    for (int n = 0; n < 3; ++n) pending.finish_one();
  });
  pending.wait(kThere);
  engine.join();
  EXPECT_FALSE(pending.cancelled());
  PendingRequest(0, in(60'000)).wait(kThere);  // nothing to wait for
}

TEST(PendingRequest, GivesPiecesInTheirOrder) {
  PendingRequest pending(1, in(60'000));
  std::thread engine([&] {
    for (const char* piece : {"a", "b", "c"}) pending.push(piece);
    pending.finish_one();
  });
  std::string text;
  while (const auto piece = pending.next(kThere)) text += *piece;
  engine.join();
  EXPECT_EQ(text, "abc");
}

TEST(PendingRequest, ReportsTheFirstFailureAndGivesUpTheRest) {
  PendingRequest pending(2, in(60'000));
  pending.fail(std::make_exception_ptr(ApiError(500, "first")));
  try {
    pending.wait(kThere);
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_STREQ(error.what(), "first");
  }
  EXPECT_TRUE(pending.cancelled());
}

TEST(PendingRequest, EndsWithItsClientAndAtItsTime) {
  PendingRequest gone(1, in(60'000));
  EXPECT_THROW(gone.wait([] { return false; }), Disconnected);
  EXPECT_TRUE(gone.cancelled());
  PendingRequest late(1, in(-1));
  EXPECT_THROW(late.wait(kThere), ApiError);
  EXPECT_TRUE(late.cancelled() && late.late(Clock::now()));
}

/// Has nothing to do but to give jobs up.
class IdleBatcher : public Batcher {
 public:
  explicit IdleBatcher(Metrics& metrics) : Batcher(1, metrics) {}

 private:
  void choose() override {}
  void work() override {}
  bool under_way() const override { return false; }
  void fail_all(const std::exception_ptr&) override {}
};

TEST(Batcher, CountsWhyAJobIsGivenUp) {
  Metrics metrics;
  IdleBatcher batcher(metrics);
  const auto late = std::make_shared<PendingRequest>(1, in(-1));
  EXPECT_THROW(late->wait(kThere), ApiError);  // and cancels its job
  const auto left = std::make_shared<PendingRequest>(1, in(60'000));
  EXPECT_THROW(left->wait([] { return false; }), Disconnected);
  const auto waiting = std::make_shared<PendingRequest>(1, in(60'000));
  for (const auto& pending : {late, left, waiting}) batcher.put(std::make_shared<Job>(pending));
  batcher.admit();
  EXPECT_EQ(batcher.waiting(), 1u);
  EXPECT_EQ(metrics.timed_out, 1u);
  EXPECT_EQ(metrics.cancelled, 1u);
}

TEST(GrowingText, HoldsBackWhatIsNotSettled) {
  GrowingText text;
  EXPECT_EQ(text.grow("a"), "a");
  EXPECT_EQ(text.grow("a\xEF\xBF\xBD"), "");  // half a character
  EXPECT_EQ(text.grow("aü"), "ü");
  EXPECT_EQ(text.grow("aü"), "");
  EXPECT_EQ(text.finish("aü!"), "!");
}

TEST(Metrics, AreCumulativeHistogramsWithLabels) {
  Metrics metrics;
  metrics.request("/v1/translate", 200, 0.004);
  metrics.request("/v1/translate", 200, 0.2);
  metrics.request("/v1/translate", 429, 100);
  metrics.batch(32);
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("synth_requests_total{path=\"/v1/translate\",status=\"200\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("synth_request_seconds_bucket{path=\"/v1/translate\",le=\"0.005\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("synth_request_seconds_bucket{path=\"/v1/translate\",le=\"0.25\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("synth_request_seconds_bucket{path=\"/v1/translate\",le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("synth_request_seconds_count{path=\"/v1/translate\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("synth_batch_rows_bucket{le=\"24\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("synth_batch_rows_bucket{le=\"32\"} 1\n"));
}

}  // namespace
}  // namespace synthesizer::serve
