// How processes find each other: a store where all write who they are.

#include <c10/util/Exception.h>
#include <c10/util/Logging.h>
#include <fmt/format.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <thread>

#include "train/c10d_group.h"
#include "train/peer_watch.h"

namespace synthesizer {
namespace {

using Clock = std::chrono::steady_clock;
using StorePtr = c10::intrusive_ptr<c10d::Store>;

/// The store ends with rank 0: before a process gives up, the others read what it has written there.
constexpr auto kOthersRead = std::chrono::seconds(1);
/// The key under which a process says that the processes cannot meet.
constexpr const char* kRefused = "refused";

/// Ends the program when it is not gone in time: whoever listens at that port may never answer.
class Deadline {
 public:
  Deadline(double seconds, std::string message)
      : thread_([this, seconds, message = std::move(message)] {
          std::unique_lock lock(mutex_);
          const auto time = std::chrono::duration<double>(seconds);
          if (!met_.wait_for(lock, time, [this] { return done_; })) end_program(message);
        }) {}
  ~Deadline() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    met_.notify_all();
    thread_.join();
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable met_;
  bool done_ = false;
  std::thread thread_;
};

std::string where_of(const ProcessPlace& place) {
  return fmt::format("{}:{}", place.address, place.port);
}

std::string no_answer(const ProcessPlace& place) {
  if (place.external_store) {
    return fmt::format(
        "rank {} found no store of torchrun at {} within {:g} s: start torchrun again, and check that this "
        "machine can reach its address",
        place.rank, where_of(place), place.timeout);
  }
  if (place.rank == 0) {
    return fmt::format(
        "rank 0 cannot reach its own MASTER_ADDR {} within {:g} s: give all processes a name or an address "
        "of the machine of rank 0",
        where_of(place), place.timeout);
  }
  return fmt::format(
      "rank {} found no rank 0 of this training at {} within {:g} s: start rank 0, and check MASTER_ADDR, "
      "MASTER_PORT and that this machine can reach it",
      place.rank, where_of(place), place.timeout);
}

StorePtr open_store(const ProcessPlace& place) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(place.port);
  options.isServer = place.rank == 0 && !place.external_store;
  options.waitWorkers = false;
  // Slightly less than ours, so that its own failure comes first.
  options.timeout = std::chrono::milliseconds(static_cast<int64_t>(place.timeout * 900));
  if (options.isServer && place.listener >= 0) options.masterListenFd = place.listener;
  try {
    StorePtr store = c10::make_intrusive<c10d::TCPStore>(place.address, options);
    if (!place.prefix.empty()) store = c10::make_intrusive<c10d::PrefixStore>(place.prefix, store);
    return store;
  } catch (const std::exception& failure) {
    const std::string text = failure.what();
    if (options.isServer && text.find("EADDRINUSE") != std::string::npos) {
      throw std::runtime_error(
          fmt::format("rank 0 cannot listen at port {}: it is in use; give all processes another MASTER_PORT",
                      place.port));
    }
    if (options.isServer && text.find("server socket") != std::string::npos) {
      throw std::runtime_error(
          fmt::format("rank 0 cannot listen at {}: {}", where_of(place), text.substr(0, text.find('\n'))));
    }
    throw std::runtime_error(no_answer(place));
  }
}

std::string hello_key(int64_t rank) {
  return fmt::format("hello/{}", rank);
}

std::string machine_key(int64_t rank) {
  return fmt::format("machine/{}", rank);
}

/// Alike for the processes of one machine alone. A container with a host name of its own is a machine.
std::string machine_name() {
  std::array<char, 256> host = {};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  return fmt::format("{} {}", host.data(), boot);
}

/// How many of the processes that have met are on this machine.
int64_t processes_here(const ProcessPlace& place, c10d::Store& store) {
  const std::string own = machine_name();
  int64_t count = 0;
  for (int64_t rank = 0; rank < place.size; ++rank) {
    if (store.get_to_str(machine_key(rank)) == own) ++count;
  }
  return count;
}

/// What a process says of itself: how many it thinks there are, and which program it is.
std::string hello_of(const ProcessPlace& place, const std::string& build) {
  return fmt::format("{} {}", place.size, build);
}

void compare_hello(const ProcessPlace& place, int64_t rank, const std::string& theirs,
                   const std::string& ours) {
  if (theirs == ours) return;
  const std::string size = theirs.substr(0, theirs.find(' ')), own = ours.substr(0, ours.find(' '));
  const std::string what =
      size != own
          ? fmt::format(
                "rank {} was started with WORLD_SIZE={} and rank {} with {}: start all processes with the "
                "same WORLD_SIZE",
                rank, size, place.rank, own)
          : fmt::format("rank {} is another build ({}) than rank {} ({}): use the same program everywhere",
                        rank, theirs.substr(size.size() + 1), place.rank, ours.substr(own.size() + 1));
  std::this_thread::sleep_for(kOthersRead);
  throw std::runtime_error(what);
}

/// Ends this process, and those that wait for one more to come.
[[noreturn]] void refuse_meeting(c10d::Store& store, const std::string& why) {
  store.set(kRefused, why);
  std::this_thread::sleep_for(kOthersRead);
  throw std::runtime_error(why);
}

void greet_all(const ProcessPlace& place, c10d::Store& store, const std::string& build) {
  const std::string ours = hello_of(place, build);
  const auto end = Clock::now() + std::chrono::duration<double>(place.timeout * 0.9);
  if (store.add(fmt::format("came/{}", place.rank), 1) > 1) {
    refuse_meeting(
        store, fmt::format("two processes were started with RANK={}: each needs another number", place.rank));
  }
  store.set(note_key(place.rank), PeerWatch::first_note());
  store.set(machine_key(place.rank), machine_name());
  store.set(hello_key(place.rank), ours);
  for (int64_t rank = 0; rank < place.size; ++rank) {
    while (!store.check({hello_key(rank)})) {
      if (store.check({kRefused})) refuse_meeting(store, store.get_to_str(kRefused));
      if (Clock::now() > end) {
        throw std::runtime_error(fmt::format(
            "rank {} did not come within {:g} s: start all {} processes, or give the right WORLD_SIZE", rank,
            place.timeout, place.size));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    compare_hello(place, rank, store.get_to_str(hello_key(rank)), ours);
  }
}

}  // namespace

std::unique_ptr<ProcessGroup> join_processes(const ProcessPlace& place, const std::string& build) {
  // c10d warns of every attempt to connect; what matters is said here.
  if (!std::getenv("TORCH_CPP_LOG_LEVEL")) FLAGS_caffe2_log_level = 3;
  StorePtr store;
  ProcessPlace known = place;
  {
    const Deadline deadline(place.timeout, no_answer(place));
    store = open_store(place);
    try {
      greet_all(place, *store, build);
      if (known.local_size == 0) known.local_size = processes_here(place, *store);
    } catch (const c10::Error&) {
      throw std::runtime_error(
          fmt::format("rank 0 at {} has ended while rank {} met the others: start all processes again",
                      where_of(place), place.rank));
    }
  }
  return make_group(known, store);
}

}  // namespace synthesizer
