#pragma once

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <regex>
#include <string>
#include <thread>
#include <vector>

namespace synthesizer {

/// A terminal of some width, and what was written to it.
class Terminal {
 public:
  explicit Terminal(unsigned short width) {
    winsize size = {24, width, 0, 0};
    EXPECT_EQ(::openpty(&outside_, &inside_, nullptr, nullptr, &size), 0);
    termios modes = {};
    ::tcgetattr(inside_, &modes);
    ::cfmakeraw(&modes);
    ::tcsetattr(inside_, TCSANOW, &modes);
    file = ::fdopen(inside_, "w");
    // A terminal holds little: somebody must read while there is writing.
    reader_ = std::thread([this] {
      char buffer[4096];
      for (ssize_t n = 0; (n = ::read(outside_, buffer, sizeof buffer)) > 0;) text_.append(buffer, n);
    });
  }
  ~Terminal() { close(); }

  void resize(unsigned short width) {
    winsize size = {24, width, 0, 0};
    EXPECT_EQ(::ioctl(outside_, TIOCSWINSZ, &size), 0);
  }
  /// Everything written; nothing can be written afterwards.
  std::string text() {
    close();
    return text_;
  }

  std::FILE* file = nullptr;

 private:
  void close() {
    if (file == nullptr) return;
    std::fclose(file);
    file = nullptr;
    reader_.join();
    ::close(outside_);
  }

  int outside_ = -1, inside_ = -1;
  std::string text_;
  std::thread reader_;
};

/// The lines a terminal was made to show, one after the other, without their colours.
inline std::vector<std::string> drawn(const std::string& text) {
  static const std::regex escape("\x1b\\[[0-9;]*[mK]");
  const std::string plain = std::regex_replace(text, escape, "");
  std::vector<std::string> all(1);
  for (const char c : plain) {
    if (c == '\r' || c == '\n') {
      all.emplace_back();
    } else {
      all.back() += c;
    }
  }
  std::erase(all, "");
  return all;
}

}  // namespace synthesizer
