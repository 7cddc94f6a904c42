#pragma once

#include <string>
#include <string_view>

namespace synthesizer {

/// Why one child process ended, as it says itself: the parent reports it, so that several children that end
/// for the same reason make one error and not several. Made before the child is forked.
class ChildError {
 public:
  /// Throws std::system_error where the system has no file left.
  ChildError();
  ~ChildError();
  ChildError(ChildError&& other) noexcept;
  ChildError& operator=(ChildError&&) = delete;

  /// In the child, once.
  void say(std::string_view why) const noexcept;
  /// In the parent, when the child has ended; empty where it said nothing.
  std::string said() const;

 private:
  int file_;
};

}  // namespace synthesizer
