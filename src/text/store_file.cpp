#include "text/store_file.h"

#include <utility>

namespace synthesizer {
namespace {

constexpr size_t kBuffer = 1 << 20;

}  // namespace

StoreFile::StoreFile(const std::string& folder, std::string name)
    : entry_{std::move(name), 0, {}}, file_(folder + "/" + entry_.name) {
  buffer_.reserve(kBuffer);
}

void StoreFile::add(const void* data, size_t bytes) {
  const char* begin = static_cast<const char*>(data);
  buffer_.insert(buffer_.end(), begin, begin + bytes);
  if (buffer_.size() >= kBuffer) flush();
}

void StoreFile::flush() {
  file_.write(buffer_.data(), buffer_.size());
  hash_.add(buffer_.data(), buffer_.size());
  entry_.bytes += static_cast<int64_t>(buffer_.size());
  buffer_.clear();
}

StoredFile StoreFile::commit() {
  flush();
  file_.commit();
  entry_.hash = hash_.hex();
  return entry_;
}

}  // namespace synthesizer
