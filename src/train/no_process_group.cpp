// Stands in for c10d_group.cpp in a build without c10d.

#include "train/process_group.h"

namespace synthesizer {

std::unique_ptr<ProcessGroup> join_processes(const ProcessPlace&, const std::string&) {
  throw std::runtime_error(
      "this program was built without the parts for several processes: install Gloo's headers (Debian: "
      "libgloo-dev), and a LibTorch with c10d and Gloo, then configure and build again");
}

}  // namespace synthesizer
