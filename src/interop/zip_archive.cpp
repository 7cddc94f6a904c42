#include "interop/zip_archive.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "interop/foreign_files.h"

namespace synthesizer {
namespace {

// Signatures and sizes of the format (APPNOTE.TXT 6.3).
constexpr std::string_view kLocalHeader = "PK\x03\x04", kDirectoryHeader = "PK\x01\x02",
                           kEndOfDirectory = "PK\x05\x06", kEndOfDirectory64 = "PK\x06\x06",
                           kLocator64 = "PK\x06\x07";
constexpr uint64_t kEndBytes = 22, kLocatorBytes = 20, kDirectoryBytes = 46, kLocalBytes = 30;
constexpr uint32_t kIn64 = 0xFFFFFFFF;
constexpr uint16_t kExtra64 = 1, kStored = 0, kDeflated = 8;

}  // namespace

void ZipArchive::damaged(const std::string& why) const {
  invalid(fmt::format("{} is damaged: {}", name_, why));
}

std::string_view ZipArchive::slice(uint64_t place, uint64_t count) const {
  if (place > bytes_.size() || count > bytes_.size() - place) damaged("it is cut off");
  return bytes_.substr(place, count);
}

template <typename T>
T ZipArchive::number(uint64_t place) const {
  T value;
  std::memcpy(&value, slice(place, sizeof(T)).data(), sizeof(T));
  return value;
}

ZipArchive::ZipArchive(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {
  const size_t end = bytes_.rfind(kEndOfDirectory);
  if (end == std::string_view::npos) damaged("it is cut off");
  uint64_t count = number<uint16_t>(end + 10), place = number<uint32_t>(end + 16);
  slice(end, kEndBytes);
  if (end >= kLocatorBytes && bytes_.substr(end - kLocatorBytes).starts_with(kLocator64)) {
    const uint64_t end64 = number<uint64_t>(end - kLocatorBytes + 8);
    if (slice(end64, 4) != kEndOfDirectory64) damaged("its directory is not where it should be");
    count = number<uint64_t>(end64 + 32);
    place = number<uint64_t>(end64 + 48);
  }
  read_directory(place, count);
}

void ZipArchive::read_directory(uint64_t place, uint64_t count) {
  uint64_t in_all = 0;  // bytes of the members as they lie in the file
  for (uint64_t n = 0; n < count; ++n) {
    if (slice(place, kDirectoryBytes).substr(0, 4) != kDirectoryHeader)
      damaged("its directory is not where it should be");
    Member member{number<uint32_t>(place + 42), number<uint32_t>(place + 20), number<uint32_t>(place + 24),
                  number<uint16_t>(place + 10)};
    const uint64_t name_bytes = number<uint16_t>(place + 28), extra_bytes = number<uint16_t>(place + 30);
    const uint64_t extra_end = place + kDirectoryBytes + name_bytes + extra_bytes;
    slice(place, kDirectoryBytes + name_bytes + extra_bytes);
    for (uint64_t at = place + kDirectoryBytes + name_bytes; at + 4 <= extra_end;) {
      const auto kind = number<uint16_t>(at);
      const uint64_t next = at + 4 + number<uint16_t>(at + 2);
      at += 4;
      if (kind == kExtra64) {  // those of the three that did not fit, in this order
        for (uint64_t* value : {&member.size, &member.compressed, &member.offset}) {
          if (*value != kIn64 || at + 8 > next) continue;
          *value = number<uint64_t>(at);
          at += 8;
        }
      }
      at = next;
    }
    // Members that share their bytes make a small file a large archive.
    if (member.compressed > bytes_.size() - in_all) damaged("its parts are larger than the whole");
    in_all += member.compressed;
    members_[std::string(bytes_.substr(place + kDirectoryBytes, name_bytes))] = member;
    place = extra_end + number<uint16_t>(place + 32);  // the comment
  }
}

std::string ZipArchive::first_ending_with(std::string_view ending) const {
  for (const auto& [name, member] : members_) {
    if (name.ends_with(ending)) return name;
  }
  return "";
}

const ZipArchive::Member& ZipArchive::find(const std::string& member) const {
  const auto found = members_.find(member);
  if (found == members_.end()) damaged(fmt::format("it has no '{}' inside", shortened(member)));
  return found->second;
}

std::string_view ZipArchive::raw(const Member& member) const {
  if (slice(member.offset, kLocalBytes).substr(0, 4) != kLocalHeader)
    damaged("a part of it is not where it should be");
  const uint64_t data = member.offset + kLocalBytes + number<uint16_t>(member.offset + 26) +
                        number<uint16_t>(member.offset + 28);
  return slice(data, member.compressed);
}

std::string_view ZipArchive::stored(const std::string& name) const {
  const Member& member = find(name);
  if (member.method != kStored || member.size != member.compressed)
    damaged(fmt::format("'{}' inside is compressed, which files of weights are not", shortened(name)));
  return raw(member);
}

void ZipArchive::unpack(const std::string& name, char* to) const {
  const Member& member = find(name);
  if (member.method == kStored) {
    const auto bytes = stored(name);
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    return;
  }
  if (member.method != kDeflated)
    damaged(fmt::format("'{}' inside is compressed by method {}", shortened(name), member.method));
  const auto from = raw(member);
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  // One call takes and gives at most 4 GiB, so it is done in pieces.
  constexpr size_t kPiece = 1U << 30U;
  size_t taken = 0, given = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data())) + taken;
    stream.avail_in = static_cast<uInt>(std::min(kPiece, from.size() - taken));
    stream.next_out = reinterpret_cast<Bytef*>(to) + given;
    stream.avail_out = static_cast<uInt>(std::min(kPiece, member.size - given));
    const uInt in = stream.avail_in, out = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    given += out - stream.avail_out;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || given != member.size)
    damaged(fmt::format("'{}' inside cannot be unpacked", shortened(name)));
}

}  // namespace synthesizer
