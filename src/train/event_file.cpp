#include "train/event_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "base/protobuf_message.h"
#include "train/crc32c.h"

namespace synthesizer {
namespace {

// The messages, and the numbers of those of their fields that are used (tensorflow/core/util/event.proto,
// framework/summary.proto, tensor.proto, tensor_shape.proto):
//   Event             wall_time 1 double, step 2 int64, file_version 3 string, summary 5, session_log 7
//   Summary           value 1
//   Summary.Value     tag 1 string, simple_value 2 float, tensor 8, metadata 9 SummaryMetadata
//   SummaryMetadata   plugin_data 1;   PluginData  plugin_name 1 string
//   TensorProto       dtype 1 enum (7 is a string), tensor_shape 2, string_val 8 bytes
//   TensorShapeProto  dim 2;           Dim         size 1 int64
//   SessionLog        status 1 enum (1 is START)

constexpr std::string_view name_start = "events.out.tfevents.";

ProtobufMessage event(int64_t step) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  return ProtobufMessage().real(1, now.count()).whole(2, step);
}

/// A TFRecord: the length and the data, each with its sum; numbers are little-endian.
std::string record(const std::string& data) {
  const auto number = [](auto value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const std::string length = number(static_cast<uint64_t>(data.size()));
  return length + number(masked_crc32c(length)) + data + number(masked_crc32c(data));
}

/// TensorBoard reads a folder's files in the order of their names, so that a new one must sort last, also
/// where a run is resumed within a second or the clock was set back.
int64_t seconds_for_name(const std::string& folder) {
  int64_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(name_start)) continue;
    int64_t other = 0;
    std::from_chars(name.data() + name_start.size(), name.data() + name.size(), other);
    seconds = std::max(seconds, other + 1);
  }
  return seconds;
}

}  // namespace

EventFile::EventFile(const std::string& folder, int64_t resumed_at) {
  static std::atomic<int> counter = 0;
  // A machine's name is nobody's business: "synth" stands in its place.
  path_ = fmt::format("{}/{}{:010}.synth.{}.{}", folder, name_start, seconds_for_name(folder), ::getpid(),
                      counter++);
  file_ = std::fopen(path_.c_str(), "wbxe");
  if (file_ == nullptr) fail();
  try {
    add(event(0).bytes(3, "brain.Event:2").done());
    // TensorBoard takes a folder's first START for the beginning and every later one for a resumption, at
    // which it drops all from the event's step on.
    add(event(resumed_at + 1).bytes(7, ProtobufMessage().whole(1, 1).done()).done());
    flush();
  } catch (...) {
    std::fclose(file_);
    throw;
  }
}

EventFile::~EventFile() {
  std::fclose(file_);
}

void EventFile::fail() const {
  throw std::runtime_error(fmt::format("{} cannot be written: {}", path_, std::strerror(errno)));
}

void EventFile::add(const std::string& event) {
  const std::string whole = record(event);
  if (std::fwrite(whole.data(), 1, whole.size(), file_) != whole.size()) fail();
}

void EventFile::flush() {
  if (std::fflush(file_) != 0) fail();
}

void EventFile::scalar(const std::string& tag, int64_t step, double value) {
  const auto point = ProtobufMessage().bytes(1, tag).single(2, static_cast<float>(value));
  add(event(step).bytes(5, ProtobufMessage().bytes(1, point.done()).done()).done());
}

void EventFile::text(const std::string& tag, int64_t step, const std::string& text) {
  const auto one = ProtobufMessage().bytes(2, ProtobufMessage().whole(1, 1).done());
  const auto tensor = ProtobufMessage().whole(1, 7).bytes(2, one.done()).bytes(8, text);
  const auto plugin = ProtobufMessage().bytes(1, ProtobufMessage().bytes(1, "text").done());
  const auto value = ProtobufMessage().bytes(1, tag).bytes(8, tensor.done()).bytes(9, plugin.done());
  add(event(step).bytes(5, ProtobufMessage().bytes(1, value.done()).done()).done());
}

}  // namespace synthesizer
