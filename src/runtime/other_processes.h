#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

namespace synthesizer {

/// How long the cores of this machine worked for other processes, as Linux counts it (/proc/stat, in
/// hundredths of a second). One thread at a time.
class OtherProcesses {
 public:
  explicit OtherProcesses(std::filesystem::path statistics = "/proc/stat");

  /// Seconds of all cores together since the last call (or the constructor); none where the system doesn't
  /// say. The two clocks differ a little, so that it may be below 0.
  std::optional<std::chrono::duration<double>> since_last();

 private:
  using Seconds = std::chrono::duration<double>;
  std::optional<Seconds> read() const;

  std::filesystem::path statistics_;
  std::optional<Seconds> last_;
};

}  // namespace synthesizer
