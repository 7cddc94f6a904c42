#include "interop/torch_file.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "base/error.h"
#include "interop/map_weights.h"
#include "interop/pickle.h"
#include "interop/zip_archive.h"

namespace synthesizer {
namespace {

constexpr std::pair<std::string_view, at::ScalarType> kStorageTypes[] = {
    {"FloatStorage", at::kFloat},       {"HalfStorage", at::kHalf}, {"DoubleStorage", at::kDouble},
    {"BFloat16Storage", at::kBFloat16}, {"LongStorage", at::kLong}, {"IntStorage", at::kInt},
    {"ShortStorage", at::kShort},       {"CharStorage", at::kChar}, {"ByteStorage", at::kByte},
    {"BoolStorage", at::kBool},
};

std::optional<at::ScalarType> type_named(std::string_view storage) {
  const auto* found = std::find_if(std::begin(kStorageTypes), std::end(kStorageTypes),
                                   [&](const auto& known) { return known.first == storage; });
  return found == std::end(kStorageTypes) ? std::nullopt : std::optional(found->second);
}

/// The tensor's numbers, copied out of the bytes of its storage.
at::Tensor tensor_from(const pickle::SavedTensor& told, std::string_view storage, const std::string& path,
                       const std::string& name) {
  auto damaged = [&](const char* why) {
    invalid(fmt::format("{} is damaged: tensor '{}' {}", path, name, why));
  };
  const auto type = type_named(told.type);
  if (!type) invalid(fmt::format("{}: tensor '{}' is of {}, which is unknown here", path, name, told.type));
  const auto width = static_cast<uint64_t>(c10::elementSize(*type));
  const uint64_t there = storage.size() / width;
  if (told.shape.size() != told.stride.size() || told.shape.size() > 8) damaged("has no proper shape");
  if (told.offset < 0 || static_cast<uint64_t>(told.offset) > there) damaged("lies outside its storage");
  uint64_t last = static_cast<uint64_t>(told.offset);  // the farthest element
  uint64_t elements = 1;
  bool empty = false;
  for (size_t d = 0; d < told.shape.size(); ++d) {
    if (told.shape[d] < 0 || told.stride[d] < 0) damaged("has no proper shape");
    empty |= told.shape[d] == 0;
    if (told.shape[d] <= 1) continue;
    const auto steps = static_cast<uint64_t>(told.shape[d] - 1),
               stride = static_cast<uint64_t>(told.stride[d]);
    // Elements that lie upon each other make a small file a large tensor: weights have none.
    if (stride == 0 || elements > there / (steps + 1)) damaged("is larger than its storage");
    elements *= steps + 1;
    if (steps > there / stride) damaged("lies outside its storage");
    last += steps * stride;
    if (last >= there) damaged("lies outside its storage");
  }
  if (empty) damaged("is empty");
  if (last >= there) damaged("lies outside its storage");
  const uint64_t from = static_cast<uint64_t>(told.offset), count = last + 1 - from;
  auto flat = at::empty({static_cast<int64_t>(count)}, at::TensorOptions(*type));
  std::memcpy(flat.mutable_data_ptr(), storage.data() + from * width, count * width);
  return flat.as_strided(told.shape, told.stride).contiguous();
}

/// The format since PyTorch 1.6: a pickle and one member per storage.
NamedTensors from_archive(std::string_view bytes, const std::string& path) {
  const ZipArchive archive(bytes, path);
  const std::string main = archive.first_ending_with("/data.pkl");
  if (main.empty()) invalid(fmt::format("{} is an archive, but not one of PyTorch's weights", path));
  const std::string root = main.substr(0, main.size() - std::string_view("data.pkl").size());
  if (archive.has(root + "byteorder") && archive.stored(root + "byteorder") != "little")
    invalid(fmt::format("{} was written on a big-endian machine, which is not supported", path));
  std::string_view program = archive.stored(main);
  const auto document = pickle::read(program, path);
  NamedTensors tensors;
  for (const auto& [name, told] : pickle::state_dict(*document.root, path)) {
    tensors.push_back({name, tensor_from(told, archive.stored(root + "data/" + told.storage), path, name)});
  }
  return tensors;
}

/// The format before: five pickles (a magic number, the version, the machine, the tensors, the keys of the
/// storages), then the storages in that order, each with its length before it.
NamedTensors from_stream(std::string_view bytes, const std::string& path) {
  constexpr std::string_view kMagicNumber = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
  if (bytes.substr(0, 32).find(kMagicNumber) == std::string_view::npos)
    invalid(fmt::format("{} is damaged, or not a file of PyTorch", path));
  for (int n = 0; n < 3; ++n) pickle::read(bytes, path);
  const auto document = pickle::read(bytes, path);
  const auto told = pickle::state_dict(*document.root, path);
  const auto key_list = pickle::read(bytes, path);
  std::map<std::string, uint64_t> widths;  // of storages, by key
  for (const auto& [name, tensor] : told) {
    if (const auto type = type_named(tensor.type)) widths[tensor.storage] = c10::elementSize(*type);
  }
  std::map<std::string, std::string_view> storages;
  for (const std::string& key : pickle::texts(*key_list.root, path)) {
    uint64_t elements = 0;
    if (bytes.size() < sizeof(elements)) invalid(fmt::format("{} is damaged: it is cut off", path));
    std::memcpy(&elements, bytes.data(), sizeof(elements));
    bytes.remove_prefix(sizeof(elements));
    if (!widths.contains(key)) invalid(fmt::format("{} is damaged: nothing uses storage '{}'", path, key));
    if (elements > bytes.size() / widths[key]) invalid(fmt::format("{} is damaged: it is cut off", path));
    storages[key] = bytes.substr(0, elements * widths[key]);
    bytes.remove_prefix(elements * widths[key]);
  }
  NamedTensors tensors;
  for (const auto& [name, one] : told)
    tensors.push_back({name, tensor_from(one, storages[one.storage], path, name)});
  return tensors;
}

}  // namespace

NamedTensors read_torch_file(const std::string& path) {
  const MappedFile file = map_weights(path);
  const std::string_view bytes(static_cast<const char*>(file.data()), file.bytes());
  return ZipArchive::is_zip(bytes) ? from_archive(bytes, path) : from_stream(bytes, path);
}

}  // namespace synthesizer
