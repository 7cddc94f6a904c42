#include "report/parameter_count.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace synthesizer {
namespace {

bool is_synthesis(const std::string& name) {
  for (const char* maker : {".attention.logits.", ".attention.kernel.", ".attention.query.",
                            ".attention.key.", ".attention.project."}) {
    if (name.find(maker) != std::string::npos) return true;
  }
  return false;
}

bool is_fixed(const std::string& name) {
  return name.ends_with(".logits.Fix.table");
}

/// Eight bytes of length, little-endian, then that much JSON.
nlohmann::json header_of(const std::string& path) {
  constexpr uint64_t kLongest = 100'000'000;  // the limit of every reader of this format
  std::ifstream file(path, std::ios::binary);
  if (!file) invalid(fmt::format("{} is missing or cannot be read", path));
  uint64_t length = 0;
  file.read(reinterpret_cast<char*>(&length), sizeof length);
  if (!file || length > kLongest) invalid(fmt::format("{} is no safetensors file", path));
  std::string text(length, '\0');
  file.read(text.data(), static_cast<std::streamsize>(length));
  auto header = file ? nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false) : nlohmann::json();
  if (!header.is_object()) invalid(fmt::format("{} is damaged: its header is not whole", path));
  return header;
}

}  // namespace

ParameterCount count_parameters(const std::string& path) {
  const auto header = header_of(path);
  ParameterCount count;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__" || is_fixed(name)) continue;
    if (!entry.is_object() || !entry.contains("shape") || !entry["shape"].is_array())
      invalid(fmt::format("{} is damaged: tensor '{}' has no shape", path, name));
    int64_t numbers = 1;
    for (const auto& size : entry["shape"]) {
      if (!size.is_number_unsigned())
        invalid(fmt::format("{} is damaged: tensor '{}' has the size {}", path, name, size.dump()));
      numbers *= size.get<int64_t>();
    }
    count.total += numbers;
    if (is_synthesis(name)) count.synthesis += numbers;
  }
  return count;
}

}  // namespace synthesizer
