#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace synthesizer {

/// How far a training is. Numbers that are not known (negative, not finite) are left out of what is shown.
struct ProgressState {
  int64_t step = 0;
  double loss = 0;
  double tokens_per_second = -1;
  std::string unit = "tok";  ///< what that counts
  double seconds_left = -1;
  double learning_rate = -1;
  bool report = false;  ///< elsewhere than on a terminal: time for a line
};

/// What people see while it trains. On a terminal one line, redrawn at most ten times a second and fitted to
/// the window:
///
///     R+V  ━━━━━━━━━╸───────  1,200/2,000  loss 1.912  14,200 tok/s  0:42 left
///
/// elsewhere a plain line for each report:
///
///     step 1,200/2,000  loss 1.912  lr 1.0e-03  14,200 tok/s  0:42 left
///
/// `lines_only`: others write to the same place. Plain lines then, and each says whose it is:
///
///     R+V: step 1,200/2,000  loss 1.912  …
class Progress {
 public:
  Progress(int64_t total_steps, int64_t first_step, std::string title, std::FILE* out = stderr,
           bool lines_only = false);
  /// Finishes, so that an error message does not end up behind the bar.
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(const ProgressState& state);
  /// Prints a line; the bar, where there is one, stays below it.
  void line(const std::string& text);
  /// Leaves the bar as it stands at last, and the cursor below it. Nothing is drawn afterwards.
  void finish();

 private:
  std::string bar_line(int width) const;
  void draw();

  int64_t total_;
  std::string title_, line_title_;  ///< before the bar, before plain lines
  std::FILE* out_;
  bool bar_ = false, colour_ = false;
  bool measured_ = false;  ///< there was an update
  ProgressState state_;
  std::chrono::steady_clock::time_point drawn_;
};

}  // namespace synthesizer
