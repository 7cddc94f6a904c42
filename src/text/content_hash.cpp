#include "text/content_hash.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "base/folders.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace synthesizer {
namespace {

constexpr size_t kBlock = 4 << 20;

std::string shown(const XXH128_hash_t& hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace

struct ContentHash::State {
  XXH3_state_t xxh;
};

ContentHash::ContentHash() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->xxh);
}
ContentHash::~ContentHash() = default;
ContentHash::ContentHash(ContentHash&&) noexcept = default;
ContentHash& ContentHash::operator=(ContentHash&&) noexcept = default;

void ContentHash::add(const void* data, size_t bytes) {
  XXH3_128bits_update(&state_->xxh, data, bytes);
}

void ContentHash::add(std::string_view text) {
  const uint64_t bytes = text.size();
  add(&bytes, sizeof bytes);
  add(text.data(), text.size());
}

std::string ContentHash::hex() const {
  return shown(XXH3_128bits_digest(&state_->xxh));
}

std::string content_hash(const void* data, size_t bytes) {
  return shown(XXH3_128bits(data, bytes));
}

std::string file_hash(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    invalid(
        fmt::format("{} is a folder or a device: a file that can be read more than once is needed", path));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) cannot_read(path, errno);
  ContentHash hash;
  std::vector<char> block(kBlock);
  do {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    hash.add(block.data(), static_cast<size_t>(file.gcount()));
  } while (file);
  if (file.bad()) throw std::runtime_error(fmt::format("{} could not be read to its end", path));
  return hash.hex();
}

}  // namespace synthesizer
