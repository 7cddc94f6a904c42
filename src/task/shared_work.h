#pragma once

#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "train/process_group.h"

namespace synthesizer {

/// Divides numbered pieces of an evaluation over the processes of a group (none: this process does all) and
/// over the worker threads of each (runtime/workers.h).
///
/// `work` does a piece, without gradients, from any thread; `pack` gives its result as bytes, and `unpack`
/// puts those of a piece that another process has done in place. Afterwards every process has all results.
/// Throws std::runtime_error, with the rank, where another process has sent more or fewer of them.
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

/// Reads them in the same order. Throws std::out_of_range where there is nothing more to read.
class Unpacker {
 public:
  explicit Unpacker(const std::string& bytes) : bytes_(bytes) {}
  template <typename T>
  T next() {
    if constexpr (std::is_same_v<T, std::string>) {
      const auto size = next<size_t>();
      const char* begin = skip(size);
      return std::string(begin, size);
    } else {
      static_assert(std::is_trivially_copyable_v<T>);
      T value;
      std::memcpy(&value, skip(sizeof value), sizeof value);
      return value;
    }
  }
  bool done() const { return place_ == bytes_.size(); }

 private:
  /// Where the next bytes are; they count as read.
  const char* skip(size_t count) {
    if (count > bytes_.size() - place_) throw std::out_of_range("fewer bytes than were packed");
    place_ += count;
    return bytes_.data() + place_ - count;
  }

  const std::string& bytes_;
  size_t place_ = 0;
};

}  // namespace synthesizer
