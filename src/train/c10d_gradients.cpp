#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <algorithm>
#include <chrono>

#include "train/c10d_group.h"

namespace synthesizer {
namespace {

using GroupPtr = c10::intrusive_ptr<c10d::ProcessGroup>;

using Clock = std::chrono::steady_clock;

/// Sums, not means: a step divides by the number of its tokens. `last_sent`: when the last bucket was full.
class SumOverProcesses : public c10d::CppCommHookInterface<GroupPtr> {
 public:
  SumOverProcesses(const GroupPtr& group, Clock::time_point& last_sent)
      : c10d::CppCommHookInterface<GroupPtr>(group), last_sent_(last_sent) {}
  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    last_sent_ = Clock::now();
    std::vector<at::Tensor> tensors = {bucket.getBufferRef()};
    return state_->allreduce(tensors)->getFuture();
  }

 private:
  Clock::time_point& last_sent_;
};

class ReducedGradients : public GradientSum {
 public:
  ReducedGradients(const GroupPtr& group, const std::vector<at::Tensor>& parameters, Exchange exchange)
      : exchange_(std::move(exchange)),
        reducer_(std::make_unique<c10d::Reducer>(
            parameters, buckets(parameters), group, std::vector<bool>(parameters.size(), false),
            c10d::kDefaultBucketBytesCap, /*find_unused_parameters=*/true, /*gradient_as_bucket_view=*/true,
            std::unordered_map<size_t, std::string>(), c10d::kDefaultFirstBucketBytes,
            /*skip_all_reduce_unused_params=*/false, /*use_python_reducer=*/false, std::vector<int64_t>())) {
    reducer_->register_comm_hook(std::make_unique<SumOverProcesses>(group, last_sent_));
  }

  double backward(const at::Tensor& loss) override {
    exchange_([&] {
      reducer_->prepare_for_backward({loss});
      loss.backward();
    });
    return std::chrono::duration<double>(Clock::now() - last_sent_).count();
  }

 private:
  /// In the order in which backward is expected to reach them: the last first. They are never rebuilt by the
  /// order that is met, so that a resumed run adds up in the same order as one that was never stopped.
  static std::vector<std::vector<size_t>> buckets(const std::vector<at::Tensor>& parameters) {
    auto assigned = std::get<0>(c10d::compute_bucket_assignment_by_size(
        parameters, {c10d::kDefaultFirstBucketBytes, c10d::kDefaultBucketBytesCap},
        std::vector<bool>(parameters.size(), false)));
    std::reverse(assigned.begin(), assigned.end());
    return assigned;
  }

  Exchange exchange_;
  Clock::time_point last_sent_;
  std::unique_ptr<c10d::Reducer> reducer_;
};

}  // namespace

std::unique_ptr<GradientSum> make_reducer(c10::intrusive_ptr<c10d::ProcessGroup> group,
                                          const std::vector<at::Tensor>& parameters, Exchange exchange) {
  return std::make_unique<ReducedGradients>(group, parameters, std::move(exchange));
}

}  // namespace synthesizer
