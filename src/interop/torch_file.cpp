#include "interop/torch_file.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <optional>

#include "base/error.h"
#include "interop/foreign_files.h"
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

/// The bytes of the storages, each copied once: many tensors may be parts of one.
class Storages {
 public:
  Storages(std::function<std::string_view(std::string_view key)> find) : find_(std::move(find)) {}

  const at::Tensor& get(std::string_view key) {
    const auto known = copies_.find(key);
    if (known != copies_.end()) return known->second;
    const std::string_view bytes = find_(key);
    auto copy = at::empty({static_cast<int64_t>(bytes.size())}, at::kByte);
    if (!bytes.empty()) std::memcpy(copy.mutable_data_ptr(), bytes.data(), bytes.size());
    return copies_.emplace(key, copy).first->second;
  }

 private:
  std::function<std::string_view(std::string_view)> find_;
  std::map<std::string_view, at::Tensor> copies_;
};

/// The tensor as a view of its storage's bytes.
at::Tensor tensor_from(const pickle::SavedTensor& told, const at::Tensor& storage, const std::string& path) {
  const std::string name = shortened(told.name);
  auto damaged = [&](const char* why) {
    invalid(fmt::format("{} is damaged: tensor '{}' {}", path, name, why));
  };
  const auto type = type_named(told.type);
  if (!type) {
    invalid(fmt::format("{}: tensor '{}' is of {}, which is unknown here", path, name, shortened(told.type)));
  }
  const auto width = static_cast<int64_t>(c10::elementSize(*type));
  const uint64_t there = storage.numel() / width;
  if (told.shape.size() != told.stride.size()) damaged("has no proper shape");
  for (size_t d = 0; d < told.shape.size(); ++d) {
    if (told.shape[d] < 0 || told.stride[d] < 0) damaged("has no proper shape");
    if (told.shape[d] == 0) damaged("is empty");
  }
  if (told.offset < 0 || static_cast<uint64_t>(told.offset) >= there) damaged("lies outside its storage");
  uint64_t last = static_cast<uint64_t>(told.offset);  // the farthest element
  uint64_t elements = 1;
  for (size_t d = 0; d < told.shape.size(); ++d) {
    if (told.shape[d] == 1) continue;
    const auto steps = static_cast<uint64_t>(told.shape[d] - 1),
               stride = static_cast<uint64_t>(told.stride[d]);
    // Elements that lie upon each other make a small file a large tensor: weights have none.
    if (stride == 0 || elements > there / (steps + 1)) damaged("is larger than its storage");
    elements *= steps + 1;
    if (steps > there / stride) damaged("lies outside its storage");
    last += steps * stride;
    if (last >= there) damaged("lies outside its storage");
  }
  const auto numbers = storage.narrow(0, 0, static_cast<int64_t>(there) * width).view(*type);
  return numbers.as_strided(told.shape, told.stride, told.offset);
}

NamedTensors tensors_from(const std::vector<pickle::SavedTensor>& told, Storages storages,
                          const std::string& path) {
  NamedTensors tensors;
  for (const auto& one : told)
    tensors.push_back({std::string(one.name), tensor_from(one, storages.get(one.storage), path)});
  return tensors;
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
  return tensors_from(pickle::state_dict(*document.root, path), Storages([&](std::string_view key) {
                        return archive.stored(root + "data/" + std::string(key));
                      }),
                      path);
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
  std::map<std::string_view, uint64_t> widths;  // of storages, by key
  for (const auto& tensor : told) {
    if (const auto type = type_named(tensor.type)) widths[tensor.storage] = c10::elementSize(*type);
  }
  std::map<std::string_view, std::string_view> storages;
  for (const std::string_view key : pickle::texts(*key_list.root, path)) {
    uint64_t elements = 0;
    if (bytes.size() < sizeof(elements)) invalid(fmt::format("{} is damaged: it is cut off", path));
    std::memcpy(&elements, bytes.data(), sizeof(elements));
    bytes.remove_prefix(sizeof(elements));
    if (!widths.contains(key))
      invalid(fmt::format("{} is damaged: nothing uses storage '{}'", path, shortened(key)));
    if (elements > bytes.size() / widths[key]) invalid(fmt::format("{} is damaged: it is cut off", path));
    storages[key] = bytes.substr(0, elements * widths[key]);
    bytes.remove_prefix(elements * widths[key]);
  }
  return tensors_from(told, Storages([&](std::string_view key) { return storages[key]; }), path);
}

}  // namespace

NamedTensors read_torch_file(const std::string& path) {
  const MappedFile file = map_weights(path);
  const std::string_view bytes(static_cast<const char*>(file.data()), file.bytes());
  return ZipArchive::is_zip(bytes) ? from_archive(bytes, path) : from_stream(bytes, path);
}

}  // namespace synthesizer
