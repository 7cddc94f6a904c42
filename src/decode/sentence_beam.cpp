#include "decode/sentence_beam.h"

#include <algorithm>
#include <tuple>

namespace synthesizer {

SentenceBeam::SentenceBeam(int64_t end, int64_t limit, const DecodeOptions& options)
    : options_(options), end_(end), limit_(limit), live_(1) {}

std::vector<SentenceBeam::Candidate> SentenceBeam::candidates(
    std::span<const std::vector<Choice>> best, std::span<const float> end_log_probability) const {
  std::vector<Candidate> all;
  for (size_t parent = 0; parent < live_.size(); ++parent) {
    const double sum = live_[parent].log_probability;
    const size_t before = all.size();
    if (length_ < limit_) {
      for (const Choice& choice : best[parent]) {
        if (choice.token == end_ && length_ < options_.min_length) continue;
        all.push_back({parent, choice.token, sum + choice.value});
      }
    }
    // At the limit the end is forced; so it is, even below the minimum, where no other token is possible.
    if (all.size() > before) continue;
    const double cost = options_.transformers_rules && length_ == limit_ ? 0 : end_log_probability[parent];
    all.push_back({parent, end_, sum + cost});
  }
  const auto kept = std::min<size_t>(all.size(), 2 * options_.beam);
  std::partial_sort(all.begin(), all.begin() + kept, all.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(b.log_probability, a.parent, a.token) < std::tie(a.log_probability, b.parent, b.token);
  });
  all.resize(kept);
  return all;
}

void SentenceBeam::advance(std::span<const std::vector<Choice>> best,
                           std::span<const float> end_log_probability) {
  const auto beam = static_cast<size_t>(options_.beam);
  const auto all = candidates(best, end_log_probability);
  const bool cut = !options_.forced_end && length_ + 1 == limit_;  // whatever token comes is the last
  std::vector<Live> next;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    const Candidate& candidate = all[rank];
    if (candidate.token == end_ || cut) {
      if (rank < beam) finish(candidate);
    } else if (next.size() < beam) {
      next.push_back({live_[candidate.parent].tokens, candidate.log_probability, candidate.parent});
      next.back().tokens.push_back(candidate.token);
    }
  }
  live_ = std::move(next);
  ++length_;
}

void SentenceBeam::finish(const Candidate& candidate) {
  std::vector<int64_t> tokens = live_[candidate.parent].tokens;
  const bool ended = candidate.token == end_;
  if (!ended) tokens.push_back(candidate.token);
  auto hypothesis =
      ended ? finished_hypothesis(std::move(tokens), candidate.log_probability, length_ < limit_, options_)
            : cut_hypothesis(std::move(tokens), candidate.log_probability, options_);
  if (static_cast<int64_t>(finished_.size()) == options_.beam) {
    if (options_.early_stopping || hypothesis.score <= finished_.back().score) return;
    finished_.pop_back();
  }
  const auto place =
      std::upper_bound(finished_.begin(), finished_.end(), hypothesis,
                       [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  finished_.insert(place, std::move(hypothesis));
}

bool SentenceBeam::done() const {
  if (live_.empty()) return true;
  if (static_cast<int64_t>(finished_.size()) < options_.beam) return false;
  if (options_.early_stopping || options_.beam == 1) return true;
  if (options_.transformers_rules)
    return live_.front().log_probability / length_norm(length_, options_) <= finished_.back().score;
  // The norm is monotonic in the length, so its largest value is at the shortest or at the longest end.
  const double norm = std::max(length_norm(length_ + 1, options_), length_norm(limit_ + 1, options_));
  return live_.front().log_probability / norm <= finished_.back().score;
}

std::vector<Hypothesis> SentenceBeam::results() const {
  const auto count = std::min<size_t>(finished_.size(), options_.nbest);
  return {finished_.begin(), finished_.begin() + count};
}

}  // namespace synthesizer
