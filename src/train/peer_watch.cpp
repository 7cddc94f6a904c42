#include "train/peer_watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "train/process_group.h"

namespace synthesizer {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = PeerWatch::Seconds;

// The first letter of a note says what it is.
constexpr char kAlive = '+', kCutOff = '?', kFailed = '!', kSawAnother = '=', kDone = '.';

/// What to do when one is lost.
std::string advice(size_t processes) {
  return fmt::format(
      "the last checkpoint is intact: start all {} processes again by the same command, with --resume where "
      "there is a checkpoint",
      processes);
}

/// With many processes more rarely: each sign is read by all of them. Always several within the timeout.
Seconds pause_between(Seconds timeout, int64_t size) {
  const double wanted = std::max(0.5, static_cast<double>(size) / 32);
  return Seconds(std::min(wanted, timeout.count() / 12));
}

}  // namespace

struct PeerWatch::State {
  struct Peer {
    std::string note;
    Clock::time_point changed;
  };

  State(int64_t own_rank, int64_t size, Seconds limit, Board given,
        std::function<void(const std::string&)> lost)
      : rank(own_rank),
        timeout(limit),
        pause(pause_between(limit, size)),
        board(std::move(given)),
        on_lost(std::move(lost)),
        peers(static_cast<size_t>(size), Peer{first_note(), Clock::now()}),
        answered(Clock::now()) {}

  void beat();
  void watch();
  /// The first process that has ended, or has been silent for so long; in words.
  std::optional<std::string> find_lost(Seconds silence) const;
  /// What to say of a board that has not answered for so long.
  std::string lost_board(Seconds unanswered) const;
  /// What to say when an exchange has failed and all processes live.
  std::string lost_connection(const std::string& symptom) const;

  const int64_t rank;
  const Seconds timeout, pause;  ///< pause: between two signs
  const Board board;
  const std::function<void(const std::string&)> on_lost;

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Peer> peers;
  Clock::time_point answered;       ///< when the board last did
  std::optional<std::string> note;  ///< written instead of a sign of life
  std::optional<std::string> lost;
  bool stopping = false, silent = false;  ///< silent: beat() has returned
  bool ending = false;                    ///< by itself, with an error that it says itself
  bool cut_off = false;                   ///< an exchange has failed, nobody knows why yet
};

std::optional<std::string> PeerWatch::State::find_lost(Seconds silence) const {
  // What a process says of itself comes first, then what it says of others, then silence.
  for (const char kind : {kFailed, kSawAnother}) {
    for (size_t other = 0; other < peers.size(); ++other) {
      const std::string& said = peers[other].note;
      if (static_cast<int64_t>(other) == rank || said[0] != kind) continue;
      return kind == kSawAnother ? said.substr(1)
                                 : fmt::format("rank {} has failed: {}", other, said.substr(1));
    }
  }
  const Seconds unanswered = Clock::now() - answered;
  if (unanswered > silence) return lost_board(unanswered);
  for (size_t other = 0; other < peers.size(); ++other) {
    const Peer& peer = peers[other];
    const Seconds quiet = answered - peer.changed;
    if (static_cast<int64_t>(other) == rank || peer.note[0] == kDone || quiet <= silence) continue;
    return fmt::format(
        "rank {} has been silent for {:.1f} s: it was killed or stopped, or its network is down; {}", other,
        quiet.count(), advice(peers.size()));
  }
  return std::nullopt;
}

std::string PeerWatch::State::lost_board(Seconds unanswered) const {
  const std::string what =
      board.of_launcher
          ? fmt::format(
                "torchrun's store at {} no longer answers, for {:.1f} s now: torchrun was killed or "
                "stopped",
                board.name, unanswered.count())
          : fmt::format(
                "rank 0 has been silent for {:.1f} s (nothing answers at {}): it was killed or stopped",
                unanswered.count(), board.name);
  return fmt::format("{}, or the network is down; {}", what, advice(peers.size()));
}

std::string PeerWatch::State::lost_connection(const std::string& symptom) const {
  std::vector<int64_t> ends;
  for (size_t other = 0; other < peers.size(); ++other) {
    const bool own = static_cast<int64_t>(other) == rank;
    if (own || peers[other].note[0] == kCutOff || peers.size() == 2)
      ends.push_back(static_cast<int64_t>(other));
  }
  const std::string what =
      ends.size() > 1 ? fmt::format("the connection between ranks {} was lost", fmt::join(ends, " and "))
                      : fmt::format("rank {} has lost its connection to another rank", rank);
  return fmt::format("{}, although all processes run ({}): check the network; {}", what, symptom,
                     advice(peers.size()));
}

void PeerWatch::State::beat() {
  int64_t count = 0;
  for (bool last = false; !last;) {
    std::string own;
    bool had_note = false, was_cut_off = false;
    {
      const std::lock_guard lock(mutex);
      had_note = note.has_value();
      was_cut_off = cut_off;
      own = note.value_or(fmt::format("{}{}", cut_off ? kCutOff : kAlive, ++count));
      last = stopping;
    }
    try {
      board.write(own);
      const auto notes = last ? std::vector<std::string>() : board.read();
      const std::lock_guard lock(mutex);
      answered = Clock::now();
      for (size_t other = 0; other < notes.size(); ++other) {
        if (!notes[other].empty() && notes[other] != peers[other].note)
          peers[other] = {notes[other], answered};
      }
    } catch (const std::exception&) {
      // The board is gone, and rank 0 with it: `answered` tells.
    }
    changed.notify_all();
    std::unique_lock lock(mutex);
    const auto news = [&] { return stopping || note.has_value() != had_note || cut_off != was_cut_off; };
    if (!last) changed.wait_for(lock, pause, news);
  }
  const std::lock_guard lock(mutex);
  silent = true;
  changed.notify_all();
}

void PeerWatch::State::watch() {
  // A sign may be one pause old when a process dies, another passes until its silence is read, and the others
  // are to hear of it before this process ends.
  const Seconds silence = timeout - 6 * pause;
  std::unique_lock lock(mutex);
  auto before = Clock::now();
  while (!stopping) {
    changed.wait_for(lock, pause / 2, [&] { return stopping; });
    const auto now = Clock::now();
    if (now - before > 4 * pause) {  // this process itself was stopped: nothing is known about the others
      answered = now;
      for (Peer& peer : peers) peer.changed = now;
    }
    before = now;
    if (stopping) return;
    if (!lost) lost = find_lost(silence);
    if (!lost) continue;
    if (!note) note = kSawAnother + *lost;
    changed.notify_all();
    // Meanwhile a process that comes to wait for others ends by itself (check()), which leaves less behind.
    const bool by_itself = changed.wait_for(lock, 3 * pause, [&] { return stopping || ending; });
    if (!by_itself) on_lost(*lost);
    return;
  }
}

PeerWatch::PeerWatch(int64_t rank, int64_t size, Seconds timeout, Board board,
                     std::function<void(const std::string&)> on_lost)
    : state_(std::make_shared<State>(rank, size, timeout, std::move(board), std::move(on_lost))) {
  beat_ = std::thread([state = state_] { state->beat(); });
  watch_ = std::thread([state = state_] { state->watch(); });
}

PeerWatch::~PeerWatch() {
  bool silent = false;
  {
    std::unique_lock lock(state_->mutex);
    state_->stopping = true;
    if (!state_->note) state_->note = std::string(1, kDone);
    state_->changed.notify_all();
    silent = state_->changed.wait_for(lock, 4 * state_->pause, [&] { return state_->silent; });
  }
  watch_.join();
  if (silent) {
    beat_.join();
  } else {
    beat_.detach();
  }
}

void PeerWatch::check() {
  const std::lock_guard lock(state_->mutex);
  if (state_->lost) throw PeerLost(*state_->lost);
}

void PeerWatch::end(const std::string& why, bool seen) {
  std::unique_lock lock(state_->mutex);
  state_->note = (seen ? kSawAnother : kFailed) + why;
  state_->ending = true;
  state_->changed.notify_all();
  // Long enough for the others to read it: where the board is this process's own it ends with it.
  state_->changed.wait_for(lock, 3 * state_->pause, [] { return false; });
}

std::string PeerWatch::blame(const std::string& symptom) {
  std::unique_lock lock(state_->mutex);
  state_->cut_off = true;
  state_->changed.notify_all();
  const Seconds silence = 4 * state_->pause;
  const auto end = Clock::now() + 2 * silence;
  while (Clock::now() < end) {
    if (const auto found = state_->lost ? state_->lost : state_->find_lost(silence)) return *found;
    state_->changed.wait_for(lock, state_->pause / 2);
  }
  return state_->lost_connection(symptom);
}

}  // namespace synthesizer
