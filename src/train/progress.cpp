#include "train/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "base/number_text.h"
#include "base/output.h"
#include "train/progress_format.h"

namespace synthesizer {
namespace {

constexpr auto least_pause = std::chrono::milliseconds(100);
constexpr int shortest_bar = 10, longest_bar = 40;
constexpr std::string_view gap = "  ";

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int window_width(std::FILE* out) {
  winsize size = {};
  const bool known = ::ioctl(::fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

bool known(double number) {
  return std::isfinite(number) && number >= 0;
}

std::string speed(const ProgressState& state) {
  if (!known(state.tokens_per_second)) return "";
  return with_thousands(std::llround(std::min(state.tokens_per_second, 1e15))) + " " + state.unit + "/s";
}

std::string time_left(const ProgressState& state) {
  return known(state.seconds_left) ? duration(state.seconds_left) + " left" : "";
}

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const auto& part : parts) {
    if (part.empty()) continue;
    if (!all.empty()) all += gap;
    all += part;
  }
  return all;
}

/// Where it cannot be written nobody reads it, and the work goes on.
void print(std::FILE* out, const std::string& text) {
  if (quiet()) return;
  std::fwrite(text.data(), 1, text.size(), out);
  std::fflush(out);
}

}  // namespace

Progress::Progress(int64_t total_steps, int64_t first_step, std::string title, std::FILE* out,
                   bool lines_only)
    : total_(total_steps),
      title_(std::move(title)),
      line_title_(lines_only && !title_.empty() ? title_ + ": " : ""),
      out_(out) {
  bar_ = !lines_only && ::isatty(::fileno(out)) == 1 && variable("TERM") != "dumb";
  colour_ = bar_ && variable("NO_COLOR").empty();
  state_.step = first_step;
  if (bar_) draw();
}

void Progress::update(const ProgressState& state) {
  state_ = state;
  measured_ = true;
  if (bar_) {
    if (std::chrono::steady_clock::now() - drawn_ >= least_pause) draw();
  } else if (state.report) {
    print(out_, line_title_ +
                    joined({fmt::format("step {}/{}", with_thousands(state.step), with_thousands(total_)),
                            fmt::format("loss {:.3f}", state.loss),
                            known(state.learning_rate) ? fmt::format("lr {:.1e}", state.learning_rate) : "",
                            speed(state), time_left(state)}) +
                    "\n");
  }
}

void Progress::line(const std::string& text) {
  print(out_, (bar_ ? "\r\x1b[K" : line_title_) + text + "\n");
  if (bar_) draw();
}

void Progress::finish() {
  if (!bar_) return;
  draw();
  print(out_, "\n");
  bar_ = false;
}

/// The line in a width: the bar takes what is left over. Where that is too little, the speed goes, then the
/// bar; what is too long even so is cut.
std::string Progress::bar_line(int width) const {
  const std::string title = fit(title_, std::max(width / 3, 8));
  const std::string count = fmt::format("{}/{}", with_thousands(state_.step), with_thousands(total_));
  const std::string loss = measured_ ? fmt::format("loss {:.3f}", state_.loss) : "";
  const double fraction = total_ > 0 ? static_cast<double>(state_.step) / static_cast<double>(total_) : 1;
  for (const auto& tok : {speed(state_), std::string()}) {
    const std::string after = joined({count, loss, tok, time_left(state_)});
    const int spent =
        columns(title) + columns(after) + static_cast<int>(gap.size()) * (title.empty() ? 1 : 2);
    if (width - spent < shortest_bar) continue;
    const Bar drawn = bar(fraction, std::min(width - spent, longest_bar));
    const bool paint = colour_ && !drawn.done.empty();
    return joined({title, (paint ? "\x1b[36m" + drawn.done + "\x1b[0m" : drawn.done) + drawn.left, after});
  }
  return fit(joined({title, count, loss, time_left(state_)}), width);
}

void Progress::draw() {
  // The last column stays free: some terminals go to the next line as soon as it is filled.
  print(out_, "\r" + bar_line(window_width(out_) - 1) + "\x1b[K");
  drawn_ = std::chrono::steady_clock::now();
}

}  // namespace synthesizer
