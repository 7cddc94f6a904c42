#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <type_traits>

#include "train/process_group.h"

namespace synthesizer {

/// Divides numbered pieces of an evaluation over the processes of a group (none: this process does all) and
/// over the worker threads of each (runtime/workers.h).
///
/// `work` does a piece, without gradients, from any thread; `pack` gives its result as bytes, and `unpack`
/// puts those of a piece that another process has done in place. Afterwards every process has all results.
void share_pieces(ProcessGroup* group, size_t pieces, const std::function<void(size_t)>& work,
                  const std::function<std::string(size_t)>& pack,
                  const std::function<void(size_t, const std::string&)>& unpack);

/// Values and texts one after another, as bytes for a process of the same build.
class Packer {
 public:
  template <typename T>
  void add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void add(const std::string& text) {
    add(text.size());
    bytes_ += text;
  }
  std::string bytes() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads them in the same order.
class Unpacker {
 public:
  explicit Unpacker(const std::string& bytes) : bytes_(bytes) {}
  template <typename T>
  T next() {
    if constexpr (std::is_same_v<T, std::string>) {
      const auto size = next<size_t>();
      place_ += size;
      return bytes_.substr(place_ - size, size);
    } else {
      T value;
      std::memcpy(&value, bytes_.data() + place_, sizeof value);
      place_ += sizeof value;
      return value;
    }
  }
  bool done() const { return place_ == bytes_.size(); }

 private:
  const std::string& bytes_;
  size_t place_ = 0;
};

}  // namespace synthesizer
