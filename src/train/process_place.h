#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace synthesizer {

/// Where a process stands among those that work together, and how it finds them.
struct ProcessPlace {
  int64_t rank = 0, size = 1;
  int64_t local_size = 1;  ///< processes of the group on this machine; 0: they count when they meet
  std::string address = "127.0.0.1";  ///< of the store, where all meet
  int64_t port = 0;
  int listener = -1;            ///< rank 0: a socket that listens at that port already; -1: it opens one
  bool external_store = false;  ///< the store is run by the launcher (torchrun), not by rank 0
  std::string prefix;           ///< of all keys in an external store: another one at every restart
  int64_t restarts = 0;         ///< how often the launcher has started the processes again
  double timeout = 60;          ///< seconds without a sign of life after which a process counts as lost
};

/// From RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun sets them; LOCAL_WORLD_SIZE is used where
/// it is there, and otherwise `local_size` is 0. LOCAL_RANK is not needed: it would choose a GPU. Nothing
/// where WORLD_SIZE is 1, and where neither it nor RANK with an address or a port is set. Throws InvalidInput
/// where one is missing or out of its range.
std::optional<ProcessPlace> place_from_environment();

}  // namespace synthesizer
