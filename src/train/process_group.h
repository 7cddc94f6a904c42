#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "train/process_place.h"

namespace synthesizer {

/// Thrown where another process was lost or has failed. The message names its rank.
struct PeerLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Sums the gradients of some parameters over all processes, while backward still computes others.
class GradientSum {
 public:
  virtual ~GradientSum() = default;
  /// The last backward pass of a step: afterwards every gradient is the sum over all processes. A plain
  /// backward() before it only adds to the gradients of its own process. Gives the seconds that it waited
  /// for sums after its own last gradient: what of the exchange the computation did not hide.
  virtual double backward(const at::Tensor& loss) = 0;
};

/// Processes that work together, on one machine or several: c10d's store and Gloo (train/c10d_group.cpp).
/// Every process makes the same calls in the same order; each call waits for the others. A call throws
/// PeerLost where one of them was lost. Where one has failed or is silent for longer than the timeout, and
/// this one waits in a call or makes none, the program is ended with one line on standard error and status 1,
/// as by a kill: neither a wait nor a long computation can be ended otherwise.
class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;

  int64_t rank() const { return place_.rank; }
  int64_t size() const { return place_.size; }
  bool first() const { return rank() == 0; }
  const ProcessPlace& place() const { return place_; }

  /// Each tensor becomes its sum over all processes, the same bits in all of them.
  virtual void all_reduce_sum(const std::vector<at::Tensor>& tensors) = 0;
  /// Each tensor becomes that of rank 0.
  void broadcast(const std::vector<at::Tensor>& tensors) {
    broadcast(tensors, std::vector<int64_t>(tensors.size(), 0));
  }
  /// Each tensor becomes that of the rank named beside it.
  virtual void broadcast(const std::vector<at::Tensor>& tensors, const std::vector<int64_t>& from) = 0;
  /// The tensor of one process becomes that of another; nothing happens in the others.
  virtual void transfer(const at::Tensor& tensor, int64_t from, int64_t to) = 0;
  /// The bytes that rank 0 gave; what others give is ignored.
  virtual std::string broadcast(const std::string& bytes) = 0;
  /// What every process gave, by rank.
  virtual std::vector<std::string> gather(const std::string& bytes) = 0;
  virtual void barrier() = 0;
  virtual std::unique_ptr<GradientSum> sum_gradients(const std::vector<at::Tensor>& parameters) = 0;

  /// Tells the others why this process ends, so that they can say so.
  virtual void fail(const std::exception& why) = 0;
  /// Waits until all have got here; to be called once, when all is done.
  virtual void close() = 0;

 protected:
  explicit ProcessGroup(ProcessPlace place) : place_(std::move(place)) {}

 private:
  ProcessPlace place_;
};

/// Meets the others. `build`: says which program this is; all must have the same. Throws std::runtime_error,
/// with the rank and what to do, where one does not come within the timeout, has another build or another
/// number of processes, or the port is in use; and where this program was built without c10d.
std::unique_ptr<ProcessGroup> join_processes(const ProcessPlace& place, const std::string& build);

/// The rank's part of a group that may not be there.
inline int64_t rank_of(const ProcessGroup* group) {
  return group ? group->rank() : 0;
}
inline int64_t size_of(const ProcessGroup* group) {
  return group ? group->size() : 1;
}

}  // namespace synthesizer
