#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace synthesizer {

/// A run's curves as TensorBoard reads them: a file events.out.tfevents.* of the folder. A run that is
/// resumed adds a file, which sorts after those that are there. Throws std::runtime_error, with the path and
/// the system's reason, where writing fails.
class EventFile {
 public:
  /// `resumed_at` is the last step that counts; TensorBoard drops what earlier files hold beyond it. -1:
  /// fresh.
  EventFile(const std::string& folder, int64_t resumed_at);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  /// A point of the curve named tag; "train/loss" and "train/lr" stand in one group. Held as a float.
  void scalar(const std::string& tag, int64_t step, double value);
  /// A text, shown as Markdown.
  void text(const std::string& tag, int64_t step, const std::string& text);
  /// What was added is in the file only now, or when this object is gone.
  void flush();

  const std::string& path() const { return path_; }

 private:
  void add(const std::string& event);
  [[noreturn]] void fail() const;

  std::string path_;
  std::FILE* file_ = nullptr;
};

}  // namespace synthesizer
