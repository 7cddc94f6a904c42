#include "serve/metrics.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/memory.h"

namespace synthesizer::serve {
namespace {

const std::vector<double> kSeconds = {.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60};
const std::vector<double> kRows = {1, 2, 4, 8, 16, 24, 32, 48, 64, 128, 256};

void describe(const char* name, const char* type, const char* help, std::string& out) {
  out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

template <class Value>
void single(const char* name, const char* type, const char* help, Value value, std::string& out) {
  describe(name, type, help, out);
  out += fmt::format("{} {}\n", name, value);
}

}  // namespace

Histogram::Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}

void Histogram::add(double value) {
  const std::lock_guard lock(mutex_);
  ++counts_[static_cast<size_t>(std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin())];
  sum_ += value;
  ++total_;
}

void Histogram::print(const std::string& name, const std::string& labels, std::string& out) const {
  const std::lock_guard lock(mutex_);
  const std::string before = labels.empty() ? "" : labels + ",",
                    alone = labels.empty() ? "" : "{" + labels + "}";
  uint64_t below = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    below += counts_[i];
    const std::string bound = i < bounds_.size() ? fmt::format("{}", bounds_[i]) : "+Inf";
    out += fmt::format("{}_bucket{{{}le=\"{}\"}} {}\n", name, before, bound, below);
  }
  out += fmt::format("{}_sum{} {}\n{}_count{} {}\n", name, alone, sum_, name, alone, total_);
}

Metrics::Metrics() : batch_(kRows), waited_(kSeconds) {}

void Metrics::request(const std::string& path, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{path, status}];
  seconds_.try_emplace(path, kSeconds).first->second.add(seconds);
}

std::string Metrics::text() const {
  std::string out;
  const std::lock_guard lock(mutex_);
  describe("synth_requests_total", "counter", "Requests answered, by path and status.", out);
  for (const auto& [key, count] : requests_)
    out +=
        fmt::format("synth_requests_total{{path=\"{}\",status=\"{}\"}} {}\n", key.first, key.second, count);
  describe("synth_request_seconds", "histogram", "Time from a complete request to its answer.", out);
  for (const auto& [path, histogram] : seconds_)
    histogram.print("synth_request_seconds", fmt::format("path=\"{}\"", path), out);
  describe("synth_batch_rows", "histogram", "Texts (beam search: hypotheses) per step of a model.", out);
  batch_.print("synth_batch_rows", "", out);
  describe("synth_queue_seconds", "histogram", "Time that texts waited before work on them began.", out);
  waited_.print("synth_queue_seconds", "", out);
  single("synth_queue_length", "gauge", "Texts that wait.", waiting.load(), out);
  single("synth_active_texts", "gauge", "Texts that are worked on.", active.load(), out);
  single("synth_connections", "gauge", "Open connections.", connections.load(), out);
  single("synth_models", "gauge", "Models that are served.", models.load(), out);
  single("synth_engine_seconds_total", "counter", "Time that inference threads worked.",
         static_cast<double>(engine_nanoseconds.load()) * 1e-9, out);
  single("synth_steps_total", "counter", "Steps of models.", steps.load(), out);
  single("synth_input_tokens_total", "counter", "Tokens read.", input_tokens.load(), out);
  single("synth_output_tokens_total", "counter", "Tokens written.", output_tokens.load(), out);
  single("synth_rejected_total", "counter", "Texts refused because the queue was full.", rejected.load(),
         out);
  single("synth_cancelled_total", "counter", "Texts given up because the client had gone.", cancelled.load(),
         out);
  single("synth_timed_out_total", "counter", "Texts given up because their time was over.", timed_out.load(),
         out);
  single("synth_connections_refused_total", "counter", "Connections refused because too many were open.",
         connections_refused.load(), out);
  single("synth_reloads_total", "counter", "Models that were loaded again.", reloads.load(), out);
  single("process_resident_memory_bytes", "gauge", "Memory of the process.",
         static_cast<int64_t>(memory_bytes()), out);
  return out;
}

}  // namespace synthesizer::serve
