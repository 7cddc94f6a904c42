#include "run/safetensors_header.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/error.h"
#include "base/folders.h"

namespace synthesizer {
namespace {

using HeaderJson = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "lengths and data are little-endian in the file");

constexpr uint64_t length_bytes = 8;
constexpr uint64_t longest_header = 100'000'000;  // the limit of every reader of this format
constexpr const char* metadata_key = "__metadata__";

constexpr std::pair<std::string_view, uint64_t> dtype_sizes[] = {
    {"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8},
    {"I32", 4}, {"I16", 2}, {"I8", 1},  {"U8", 1},   {"BOOL", 1},
};

[[noreturn]] void damaged(const std::string& path, const std::string& what) {
  invalid(fmt::format("{} is damaged: {}", path, what));
}

[[noreturn]] void foreign(const std::string& path, const std::string& what) {
  invalid(fmt::format("{} is not a safetensors file: {}", path, what));
}

/// The JSON text, after the checks that tell files of other kinds from files cut short.
std::string_view header_text(const std::string& path, std::string_view file, uint64_t file_bytes) {
  if (file.substr(0, 4) == "PK\x03\x04") {
    foreign(path,
            "it is a zip file, as torch.save writes; save the tensors with safetensors.torch.save_file");
  }
  const uint64_t there = std::min<uint64_t>(file.size(), file_bytes);
  if (there <= length_bytes) foreign(path, fmt::format("it has only {} bytes", there));
  if (file[length_bytes] != '{') foreign(path, "there is no JSON header after its first 8 bytes");
  uint64_t length = 0;
  std::memcpy(&length, file.data(), length_bytes);
  const uint64_t rest = there - length_bytes;
  if (length > longest_header) foreign(path, fmt::format("its header would have {} bytes", length));
  if (length > rest) {
    damaged(path, fmt::format("it ends within its header, {} bytes of {} are there", rest, length));
  }
  return file.substr(length_bytes, length);
}

/// The header as JSON. A name that comes twice would be silently overwritten, so keys are watched while
/// parsing; that also yields their order.
HeaderJson parse_json(const std::string& path, std::string_view text, std::vector<std::string>& names) {
  std::unordered_set<std::string> seen[2];  // names; keys of the object being read
  const auto watch = [&](int depth, HeaderJson::parse_event_t event, HeaderJson& value) {
    if (depth > 3) damaged(path, "its header is nested too deep");
    if (event == HeaderJson::parse_event_t::object_start) seen[1].clear();
    if (event != HeaderJson::parse_event_t::key) return true;
    const auto& key = value.get_ref<const std::string&>();
    if (!seen[depth > 1].insert(key).second) damaged(path, fmt::format("its header has '{}' twice", key));
    if (depth == 1) names.push_back(key);
    return true;
  };
  // The parser takes a zero byte for the end of the text.
  if (text.find('\0') != text.npos) damaged(path, "its header has a zero byte");
  try {
    return HeaderJson::parse(text.begin(), text.end(), watch);
  } catch (const HeaderJson::exception& error) {
    damaged(path, fmt::format("its header is not valid JSON ({})", error.what()));
  }
}

uint64_t whole_number(const std::string& path, const std::string& name, const char* what,
                      const HeaderJson& value) {
  if (!value.is_number_unsigned()) {
    damaged(path, fmt::format("tensor '{}' has {} {}, not a whole number", name, what, value.dump()));
  }
  return value.get<uint64_t>();
}

const HeaderJson& field(const std::string& path, const std::string& name, const HeaderJson& object,
                        const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) damaged(path, fmt::format("tensor '{}' has no {}", name, key));
  return *found;
}

/// Bytes of a tensor of that shape. Sizes of 0 count as 1 for the overflow, as they do for strides.
uint64_t bytes_of(const std::string& path, const TensorEntry& entry) {
  uint64_t limit = std::numeric_limits<int64_t>::max() / dtype_bytes(entry.dtype);
  uint64_t count = 1;
  for (const int64_t size : entry.shape) {
    const auto factor = static_cast<uint64_t>(std::max<int64_t>(size, 1));
    if (factor > limit) {
      damaged(path, fmt::format("tensor '{}' has a shape too large, [{}]", entry.name,
                                fmt::join(entry.shape, ", ")));
    }
    limit /= factor;
    count *= static_cast<uint64_t>(size);
  }
  return count * dtype_bytes(entry.dtype);
}

TensorEntry read_entry(const std::string& path, const std::string& name, const HeaderJson& object) {
  if (!object.is_object()) damaged(path, fmt::format("tensor '{}' is not described by an object", name));
  TensorEntry entry;
  entry.name = name;

  const HeaderJson& dtype = field(path, name, object, "dtype");
  if (dtype.is_string()) entry.dtype = dtype.get<std::string>();
  if (dtype_bytes(entry.dtype) == 0) {
    damaged(path, fmt::format("tensor '{}' has the unknown dtype {}", name, dtype.dump()));
  }

  const HeaderJson& shape = field(path, name, object, "shape");
  if (!shape.is_array()) damaged(path, fmt::format("tensor '{}' has a shape that is not a list", name));
  for (const HeaderJson& size : shape) {
    const uint64_t number = whole_number(path, name, "a size", size);
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      damaged(path, fmt::format("tensor '{}' has a shape too large, size {}", name, number));
    }
    entry.shape.push_back(static_cast<int64_t>(number));
  }

  const HeaderJson& offsets = field(path, name, object, "data_offsets");
  if (!offsets.is_array() || offsets.size() != 2) {
    damaged(path, fmt::format("tensor '{}' has data_offsets that are not a pair", name));
  }
  entry.begin = whole_number(path, name, "the offset", offsets[0]);
  entry.end = whole_number(path, name, "the offset", offsets[1]);
  const uint64_t bytes = bytes_of(path, entry);
  if (entry.end < entry.begin || entry.end - entry.begin != bytes) {
    damaged(path, fmt::format("tensor '{}' of {} [{}] needs {} bytes, its data_offsets are [{}, {}]", name,
                              entry.dtype, fmt::join(entry.shape, ", "), bytes, entry.begin, entry.end));
  }
  return entry;
}

std::map<std::string, std::string> read_metadata(const std::string& path, const HeaderJson& object) {
  if (!object.is_object()) damaged(path, "its __metadata__ is not an object");
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_string())
      damaged(path, fmt::format("its __metadata__ has '{}', which is not a string", key));
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

/// Every byte of the data belongs to exactly one tensor.
void check_cover(const std::string& path, const std::vector<TensorEntry>& tensors, uint64_t bytes) {
  std::vector<const TensorEntry*> order;
  for (const auto& entry : tensors) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const TensorEntry* a, const TensorEntry* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  uint64_t end = 0;
  for (const TensorEntry* entry : order) {
    if (entry->begin > end) damaged(path, fmt::format("there is a hole before tensor '{}'", entry->name));
    if (entry->begin < end) damaged(path, fmt::format("tensor '{}' overlaps another", entry->name));
    end = entry->end;
  }
  if (end > bytes) damaged(path, fmt::format("its last {} bytes are missing", end - bytes));
  if (end < bytes) damaged(path, fmt::format("{} bytes after its tensors belong to none", bytes - end));
}

/// A regular file, open for reading.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (descriptor_ < 0) cannot_read(path, errno);
    struct stat status = {};
    const bool regular = ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
    bytes_ = static_cast<uint64_t>(status.st_size);
    if (regular) return;
    ::close(descriptor_);
    foreign(path, "it is a folder or a device");
  }
  ~OpenFile() { ::close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  uint64_t bytes() const { return bytes_; }

  /// The first `bytes` of the file, or as many as there are.
  std::string start(uint64_t bytes) const {
    std::string text(std::min(bytes, bytes_), '\0');
    size_t done = 0;
    while (done < text.size()) {
      const ssize_t count =
          ::pread(descriptor_, text.data() + done, text.size() - done, static_cast<off_t>(done));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      done += static_cast<size_t>(count);
    }
    text.resize(done);
    return text;
  }

 private:
  int descriptor_;
  uint64_t bytes_ = 0;
};

}  // namespace

uint64_t dtype_bytes(std::string_view dtype) {
  for (const auto& [name, bytes] : dtype_sizes) {
    if (name == dtype) return bytes;
  }
  return 0;
}

TensorHeader parse_tensor_header(const std::string& path, std::string_view file, uint64_t file_bytes) {
  const auto text = header_text(path, file, file_bytes);
  std::vector<std::string> names;
  const HeaderJson json = parse_json(path, text, names);
  TensorHeader header;
  for (const auto& name : names) {
    if (name == metadata_key) {
      header.metadata = read_metadata(path, json.at(name));
    } else {
      header.tensors.push_back(read_entry(path, name, json.at(name)));
    }
  }
  header.data = length_bytes + text.size();
  check_cover(path, header.tensors, file_bytes - header.data);
  return header;
}

TensorHeader read_tensor_header(const std::string& path) {
  const OpenFile file(path);
  std::string start = file.start(length_bytes + 1);
  uint64_t length = 0;
  if (start.size() > length_bytes) std::memcpy(&length, start.data(), length_bytes);
  if (length > 0 && length <= longest_header) start = file.start(length_bytes + length);
  return parse_tensor_header(path, start, file.bytes());
}

std::string write_tensor_header(const std::vector<TensorEntry>& tensors,
                                const std::map<std::string, std::string>& metadata) {
  // Put together by hand: an ordered JSON object takes time squared in the number of its keys.
  std::string text;
  const auto add = [&text](const std::string& key, const nlohmann::ordered_json& value) {
    try {
      text += fmt::format("{}{}:{}", text.empty() ? '{' : ',', HeaderJson(key).dump(), value.dump());
    } catch (const HeaderJson::exception&) {
      invalid(
          "the name of a tensor or a text of the metadata is not UTF-8: a safetensors file cannot hold it");
    }
  };
  if (!metadata.empty()) add(metadata_key, metadata);
  for (const auto& entry : tensors) {
    const nlohmann::ordered_json value = {
        {"dtype", entry.dtype}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.end}}};
    add(entry.name, value);
  }
  text += text.empty() ? "{}" : "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), length_bytes) + text;
}

}  // namespace synthesizer
