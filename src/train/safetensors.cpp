#include "train/safetensors.h"

#include <ATen/ATen.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <unordered_set>

#include "base/error.h"
#include "base/file.h"
#include "base/folders.h"
#include "base/nearest.h"
#include "train/checksum.h"
#include "train/crc32c.h"

namespace synthesizer {
namespace {

constexpr std::pair<const char*, at::ScalarType> scalar_types[] = {
    {"F64", at::kDouble}, {"F32", at::kFloat}, {"F16", at::kHalf},  {"BF16", at::kBFloat16},
    {"I64", at::kLong},   {"I32", at::kInt},   {"I16", at::kShort}, {"I8", at::kChar},
    {"U8", at::kByte},    {"BOOL", at::kBool},
};

at::ScalarType scalar_type(const std::string& dtype) {
  const auto* found = std::find_if(std::begin(scalar_types), std::end(scalar_types),
                                   [&](const auto& pair) { return pair.first == dtype; });
  return found->second;  // parse_tensor_header lets no other dtype through
}

TensorEntry describe(const NamedTensor& named) {
  const std::string& name = named.name;
  const at::Tensor& tensor = named.tensor;
  if (name == "__metadata__") invalid("a tensor cannot be named '__metadata__' in a safetensors file");
  if (!tensor.defined()) invalid(fmt::format("tensor '{}' is undefined: it cannot be saved", name));
  const auto* found = std::find_if(std::begin(scalar_types), std::end(scalar_types),
                                   [&](const auto& pair) { return pair.second == tensor.scalar_type(); });
  if (tensor.layout() != at::kStrided || found == std::end(scalar_types)) {
    invalid(fmt::format("tensor '{}' is {} {}: a safetensors file cannot hold it", name,
                        c10::str(tensor.layout()), c10::toString(tensor.scalar_type())));
  }
  return {.name = name, .dtype = found->first, .shape = tensor.sizes().vec()};
}

/// Where the tensors lie in the data: a wider dtype first, otherwise as given. Without holes, which the
/// format forbids, this is what keeps all of them aligned. Sets begin and end; returns the order of the data.
std::vector<size_t> lay_out(const std::vector<NamedTensor>& tensors, std::vector<TensorEntry>& entries) {
  std::vector<size_t> order(entries.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return dtype_bytes(entries[a].dtype) > dtype_bytes(entries[b].dtype);
  });
  uint64_t end = 0;
  for (const size_t i : order) {
    entries[i].begin = end;
    end += tensors[i].tensor.nbytes();
    entries[i].end = end;
  }
  return order;
}

/// As the file holds it: on the CPU, without gaps.
at::Tensor plain_form(const at::Tensor& tensor) {
  return tensor.detach().cpu().resolve_neg().contiguous();
}

std::string_view raw_bytes(const at::Tensor& plain) {
  return {static_cast<const char*>(plain.const_data_ptr()), plain.nbytes()};
}

}  // namespace

void save_tensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                  const std::map<std::string, std::string>& metadata) {
  save_tensors(path, tensors, metadata, [&](size_t i) { return tensors[i].tensor; });
}

void save_tensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                  const std::map<std::string, std::string>& given,
                  const std::function<at::Tensor(size_t i)>& values) {
  std::unordered_set<std::string> names;
  std::vector<TensorEntry> entries;
  for (const auto& named : tensors) {
    entries.push_back(describe(named));
    if (!names.insert(named.name).second) {
      invalid(fmt::format("two tensors are named '{}': {} cannot hold both", named.name, path));
    }
  }
  const auto order = lay_out(tensors, entries);
  auto metadata = given;
  metadata[kChecksumKey] = kNoChecksum;
  std::string header = write_tensor_header(entries, metadata);
  uint32_t sum = crc32c(header);
  for (const size_t i : order) sum = crc32c(raw_bytes(plain_form(values(i))), sum);
  set_checksum(header, sum);
  AtomicFile file(path);
  file.write(header);
  for (const size_t i : order) file.write(raw_bytes(plain_form(values(i))));
  file.commit();
}

/// The bytes of a whole file, private to this process: a write reaches memory only.
class TensorFile::Mapping {
 public:
  explicit Mapping(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) cannot_read(path, errno);
    struct stat status = {};
    const bool regular = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    bytes_ = static_cast<size_t>(status.st_size);
    if (regular && bytes_ > 0) {
      data_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0);
    }
    const int reason = errno;
    ::close(descriptor);
    if (!regular) invalid(fmt::format("{} is not a safetensors file: it is a folder or a device", path));
    if (data_ == MAP_FAILED) {
      throw std::runtime_error(fmt::format("{} cannot be mapped: {}", path, std::strerror(reason)));
    }
  }
  ~Mapping() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::string_view bytes() const { return {data(), bytes_}; }
  char* data() const { return static_cast<char*>(data_); }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

TensorFile::TensorFile(const std::string& path)
    : path_(path),
      mapping_(std::make_shared<const Mapping>(path)),
      header_(parse_tensor_header(path, mapping_->bytes())) {
  for (size_t i = 0; i < header_.tensors.size(); ++i) places_[header_.tensors[i].name] = i;
}

void TensorFile::check_bytes() const {
  check_checksum(path_, mapping_->bytes(), header_.data);
}

std::vector<std::string> TensorFile::names() const {
  std::vector<std::string> names;
  for (const auto& entry : header_.tensors) names.push_back(entry.name);
  return names;
}

at::Tensor TensorFile::tensor(const std::string& name) const {
  const auto found = places_.find(name);
  if (found == places_.end()) {
    invalid(fmt::format("{} has no tensor '{}'{}", path_, name, did_you_mean(name, names())));
  }
  const auto& entry = header_.tensors[found->second];
  const auto type = scalar_type(entry.dtype);
  char* data = mapping_->data() + header_.data + entry.begin;
  const size_t bytes = entry.end - entry.begin;
  if (type == at::kBool &&
      std::any_of(data, data + bytes, [](char byte) { return byte != 0 && byte != 1; })) {
    invalid(fmt::format("{} is damaged: tensor '{}' of BOOL has bytes other than 0 and 1", path_, name));
  }
  // Other writers need not align: what does not lie right is copied.
  if (bytes == 0 || reinterpret_cast<uintptr_t>(data) % dtype_bytes(entry.dtype) != 0) {
    auto copy = at::empty(entry.shape, at::TensorOptions(type));
    if (bytes > 0) std::memcpy(copy.mutable_data_ptr(), data, bytes);
    return copy;
  }
  return at::from_blob(
      data, entry.shape, [mapping = mapping_](void*) {}, at::TensorOptions(type));
}

}  // namespace synthesizer
