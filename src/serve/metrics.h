#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace synthesizer::serve {

/// Counts of values up to each of some bounds, as Prometheus takes them. Thread-safe.
class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds);
  void add(double value);
  /// Its lines of the text format; `labels` as in `path="/v1/translate"`, or empty.
  void print(const std::string& name, const std::string& labels, std::string& out) const;

 private:
  std::vector<double> bounds_;
  mutable std::mutex mutex_;
  std::vector<uint64_t> counts_;
  double sum_ = 0;
  uint64_t total_ = 0;
};

/// What a server counts, for GET /metrics. Thread-safe.
class Metrics {
 public:
  Metrics();

  void request(const std::string& path, int status, double seconds);
  void batch(int64_t rows) { batch_.add(static_cast<double>(rows)); }
  void waited(double seconds) { waited_.add(seconds); }

  std::atomic<uint64_t> input_tokens = 0, output_tokens = 0, steps = 0;
  std::atomic<uint64_t> engine_nanoseconds = 0;
  std::atomic<uint64_t> rejected = 0, cancelled = 0, timed_out = 0, reloads = 0;
  std::atomic<uint64_t> connections_refused = 0;
  std::atomic<int64_t> waiting = 0, active = 0, connections = 0, models = 0;

  /// Prometheus's text format, version 0.0.4.
  std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, uint64_t> requests_;
  std::map<std::string, Histogram> seconds_;
  Histogram batch_, waited_;
};

}  // namespace synthesizer::serve
