#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace synthesizer {

/// Knows which of the processes that work together are alive. Each gives a sign of life several times within
/// the timeout, by a thread of its own, so that a long computation is no silence; one that ends says why.
class PeerWatch {
 public:
  using Seconds = std::chrono::duration<double>;

  /// How signs travel: a note of every process that all can read. Called by one thread at a time.
  struct Board {
    std::function<void(const std::string& note)> write;  ///< this process's
    std::function<std::vector<std::string>()> read;      ///< all of them, by rank
    std::string name;                                    ///< where it is, for messages
    bool of_launcher = false;                            ///< torchrun keeps it, not rank 0
  };

  /// `on_lost`: called once, in a thread of the watch, when a process is lost; it must end the program,
  /// whatever that does at the time: a computation may take hours, a wait for a lock of the lost one has no
  /// end. The others are told first. The board must have a note of every process already.
  PeerWatch(int64_t rank, int64_t size, Seconds timeout, Board board,
            std::function<void(const std::string&)> on_lost);
  /// This process is done; its silence means nothing from now on.
  ~PeerWatch();
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  /// Before whatever waits for other processes: throws PeerLost where one is lost already.
  void check();

  /// After an exchange has failed: which process is to blame, in words. Waits some signs of life to find out,
  /// and tells the others that it does: where all live, those that do so are the ends of a lost connection.
  std::string blame(const std::string& symptom);

  /// The note of a process that ends with an error; `seen`: it ends because of another, and says so itself.
  /// on_lost is not called from then on.
  void end(const std::string& why, bool seen);

  /// A note of a process that has just come.
  static std::string first_note() { return "+0"; }

 private:
  // Shared with the threads: one that waits for a board that no longer answers may outlive this object.
  struct State;
  std::shared_ptr<State> state_;
  std::thread beat_, watch_;
};

}  // namespace synthesizer
