#include "interop/npz.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "base/error.h"
#include "interop/foreign_files.h"
#include "interop/zip_archive.h"

namespace synthesizer {
namespace {

constexpr std::pair<std::string_view, at::ScalarType> kArrayTypes[] = {
    {"<f4", at::kFloat}, {"<f8", at::kDouble}, {"<f2", at::kHalf}, {"|i1", at::kChar},
    {"|u1", at::kByte},  {"<i4", at::kInt},    {"<i8", at::kLong},
};

/// What stands behind `key` in the header, a Python dictionary as text: {'descr': '<f4', 'shape': (2, 3), …}.
std::string_view header_value(std::string_view header, std::string_view key) {
  const size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return {};
  header.remove_prefix(at + key.size() + 3);
  while (header.starts_with(' ')) header.remove_prefix(1);
  return header;
}

std::vector<int64_t> shape_of(std::string_view text) {
  std::vector<int64_t> shape;
  for (size_t at = 1; at < text.size() && text[at] != ')';) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error == std::errc()) {
      shape.push_back(value);
      at = static_cast<size_t>(end - text.data());
    } else {
      ++at;
    }
  }
  return shape;
}

/// The array of a member, which is a header and the numbers behind it, as a view of its bytes.
at::Tensor parse_array(const at::Tensor& member, const std::string& path, const std::string& name) {
  const std::string_view bytes(static_cast<const char*>(member.const_data_ptr()), member.nbytes());
  auto damaged = [&](const char* why) {
    invalid(fmt::format("{} is damaged: array '{}' {}", path, shortened(name), why));
  };
  if (!bytes.starts_with("\x93NUMPY") || bytes.size() < 12) damaged("is not an array of NumPy");
  const bool wide = bytes[6] > 1;  // version 2 has a longer length
  uint32_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data() + 8, wide ? 4 : 2);
  const size_t begin = wide ? 12 : 10;
  if (header_bytes > bytes.size() - begin) damaged("is cut off");
  const auto header = bytes.substr(begin, header_bytes);
  const auto data = bytes.substr(begin + header_bytes);
  const auto descr = header_value(header, "descr"), shape_text = header_value(header, "shape");
  const auto* type = std::find_if(std::begin(kArrayTypes), std::end(kArrayTypes), [&](const auto& known) {
    return descr.size() > 4 && descr.substr(1, 3) == known.first;
  });
  if (type == std::end(kArrayTypes)) damaged("holds no plain numbers");
  if (header_value(header, "fortran_order").starts_with("True")) damaged("has its columns first");
  if (!shape_text.starts_with('(')) damaged("has no proper shape");
  const auto shape = shape_of(shape_text);
  const uint64_t width = c10::elementSize(type->second), there = data.size() / width;
  uint64_t wanted = 1;
  for (const int64_t size : shape) {
    if (size < 1 || wanted > there / static_cast<uint64_t>(size)) damaged("is cut off");
    wanted *= static_cast<uint64_t>(size);
  }
  if (wanted > there) damaged("is cut off");
  auto numbers =
      member.narrow(0, static_cast<int64_t>(begin + header_bytes), static_cast<int64_t>(wanted * width));
  if (numbers.storage_offset() % static_cast<int64_t>(width) != 0) numbers = numbers.clone();
  return numbers.view(type->second).view(shape);
}

/// Throws InvalidInput where a file would be many times as large in memory: deflate makes up to 1000 bytes of
/// one, and of weights hardly 2.
void check_unpacked_size(const ZipArchive& archive, const std::string& path) {
  constexpr uint64_t kMostPerByte = 8, kAlways = uint64_t{32} << 20U;
  const uint64_t most = kAlways + kMostPerByte * archive.bytes();
  uint64_t left = most;
  for (const auto& [member, place] : archive.members()) {
    const uint64_t size = archive.size(member);
    if (size > left)
      invalid(fmt::format(
          "{} would have more than {} bytes unpacked, too many for its size: save its arrays without "
          "compression",
          path, most));
    left -= size;
  }
}

}  // namespace

NamedTensors read_npz(const std::string& path) {
  const MappedFile file = map_weights(path);
  const ZipArchive archive({static_cast<const char*>(file.data()), file.bytes()}, path);
  check_unpacked_size(archive, path);
  NamedTensors tensors;
  for (const auto& [member, place] : archive.members()) {
    const std::string name = member.ends_with(".npy") ? member.substr(0, member.size() - 4) : member;
    const auto bytes = at::empty({static_cast<int64_t>(archive.size(member))}, at::kByte);
    archive.unpack(member, static_cast<char*>(bytes.mutable_data_ptr()));
    tensors.push_back({name, parse_array(bytes, path, name)});
  }
  return tensors;
}

}  // namespace synthesizer
