#include "text/store_part.h"

#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/file.h"
#include "text/content_hash.h"

namespace synthesizer {
namespace {

/// Before the runs, the counts, the lengths and the tokens of a part, and a hash of all that at the end.
struct PartHeader {
  char kind[8] = {'s', 'y', 'n', 'p', 'a', 'r', 't', '1'};
  int64_t first = 0, examples = 0, fields = 0, runs = 0, tokens = 0;
};
constexpr size_t kHashBytes = 32;

template <typename T>
void append(std::string& bytes, const T* values, size_t count) {
  bytes.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

template <typename T>
std::vector<T> taken(std::string_view& bytes, int64_t count) {
  std::vector<T> values(static_cast<size_t>(count));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  bytes.remove_prefix(values.size() * sizeof(T));
  return values;
}

bool is_whole(std::string_view bytes) {
  if (bytes.size() < sizeof(PartHeader) + kHashBytes) return false;
  const size_t body = bytes.size() - kHashBytes;
  return content_hash(bytes.data(), body) == bytes.substr(body);
}

}  // namespace

void save_part(const std::string& path, const EncodedBlock& part, size_t fields) {
  std::vector<int64_t> lengths;
  PartHeader header;
  for (const Tokens& tokens : part.tokens) {
    lengths.push_back(static_cast<int64_t>(tokens.size()));
    header.tokens += lengths.back();
  }
  header.first = part.first;
  header.examples = static_cast<int64_t>(part.tokens.size() / fields);
  header.fields = static_cast<int64_t>(fields);
  header.runs = static_cast<int64_t>(part.runs.size());
  std::string bytes;
  append(bytes, &header, 1);
  append(bytes, part.runs.data(), part.runs.size());
  append(bytes, part.counts.data(), part.counts.size());
  append(bytes, lengths.data(), lengths.size());
  for (const Tokens& tokens : part.tokens) append(bytes, tokens.data(), tokens.size());
  AtomicFile file(path);
  file.write(bytes);
  file.write(content_hash(bytes.data(), bytes.size()));
  file.commit();
}

std::optional<EncodedBlock> load_part(const std::string& path, const ExampleRange& range, size_t fields) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return {};
  const std::string bytes = read_file(path);
  if (!is_whole(bytes)) return {};
  PartHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const bool wanted = std::string_view(header.kind, sizeof header.kind) ==
                          std::string_view(PartHeader().kind, sizeof header.kind) &&
                      ExampleRange{header.first, header.examples} == range &&
                      header.fields == static_cast<int64_t>(fields);
  if (!wanted) return {};
  std::string_view rest = std::string_view(bytes).substr(sizeof header);
  const int64_t texts = header.examples * header.fields;
  EncodedBlock part;
  part.first = header.first;
  part.runs = taken<LineRun>(rest, header.runs);
  part.counts = taken<TextCount>(rest, texts);
  for (const int64_t length : taken<int64_t>(rest, texts)) part.tokens.push_back(taken<Token>(rest, length));
  return part;
}

}  // namespace synthesizer
