#pragma once

// Private to the sources that use c10d, whose headers are large: nothing else includes this.

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <functional>
#include <memory>
#include <vector>

#include "train/process_group.h"

namespace synthesizer {

/// The group of processes that have met at a store; each has written its first note (meeting.cpp).
std::unique_ptr<ProcessGroup> make_group(const ProcessPlace& place, c10::intrusive_ptr<c10d::Store> store);

/// The key of a process's note at the store (peer_watch.h).
std::string note_key(int64_t rank);

/// Prints the line for an error and ends the program with status 1, whatever its threads wait for.
[[noreturn]] void end_program(const std::string& message);

/// Calls something that waits for other processes; what it throws becomes PeerLost.
using Exchange = std::function<void(const std::function<void()>&)>;

/// c10d::Reducer, the engine under PyTorch's DistributedDataParallel.
std::unique_ptr<GradientSum> make_reducer(c10::intrusive_ptr<c10d::ProcessGroup> group,
                                          const std::vector<at::Tensor>& parameters, Exchange exchange);

}  // namespace synthesizer
