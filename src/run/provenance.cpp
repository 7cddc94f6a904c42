#include "run/provenance.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/file.h"

namespace synthesizer {
namespace {

/// The value of the first line "key : value"; the processors of a machine are alike.
std::string_view value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto colon = line.find(':');
    if (!line.starts_with(key) || colon == line.npos) continue;
    if (line.substr(key.size(), colon - key.size()).find_first_not_of(" \t") != line.npos) continue;
    const auto value = line.substr(colon + 1);
    return value.substr(std::min(value.find_first_not_of(" \t"), value.size()));
  }
  return "";
}

std::string cpuinfo() {
  std::ifstream file("/proc/cpuinfo");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Sets `value` to what the object has under that key; it keeps its value where there is no such key.
template <typename T>
void take_field(const nlohmann::json& object, const char* key, T& value) {
  const auto found = object.find(key);
  if (found == object.end()) return;
  if constexpr (std::is_same_v<T, int64_t>) {
    // (Not its text: that of a list in a list in a list … would take all of the stack.)
    if (!found->is_number_integer())
      invalid(fmt::format("{} has the type {}, it is not a whole number", key, found->type_name()));
  }
  value = found->get<T>();
}

/// Arguments and names of files may be any bytes; what comes back is UTF-8, so that it can be written.
nlohmann::ordered_json utf8(const nlohmann::ordered_json& json) {
  using Json = nlohmann::ordered_json;
  return Json::parse(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

int affinity_cores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

std::string without_home(std::string text) {
  const char* variable = std::getenv("HOME");
  std::string home = variable == nullptr ? "" : variable;
  while (home.ends_with('/')) home.pop_back();
  if (home.empty()) return text;
  for (size_t place = text.find(home); place != text.npos; place = text.find(home, place + 1)) {
    const size_t end = place + home.size();
    if (end == text.size() || text[end] == '/') text.replace(place, home.size(), "~");
  }
  return text;
}

std::vector<std::string> recorded_command(std::vector<std::string> command) {
  for (auto& argument : command) argument = without_home(argument);
  return utf8(command).get<std::vector<std::string>>();
}

ProcessorDescription describe_processor(std::string_view cpuinfo) {
  ProcessorDescription processor;
  processor.name = value_of(cpuinfo, "model name");
  if (processor.name.empty()) processor.name = "unknown";
  const std::string flags = fmt::format(" {} ", value_of(cpuinfo, "flags"));
  for (const char* flag : {"avx2", "avx512f", "amx_bf16"}) {
    if (flags.find(fmt::format(" {} ", flag)) != flags.npos) processor.flags.push_back(flag);
  }
  return processor;
}

std::string iso_time(int64_t seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

Provenance::Provenance(std::vector<std::string> command, std::string version, std::string commit,
                       std::string libtorch, int64_t threads, std::map<std::string, std::string> data)
    : command(recorded_command(std::move(command))),
      version(std::move(version)),
      commit(std::move(commit)),
      libtorch(std::move(libtorch)),
      threads(threads),
      processor(describe_processor(cpuinfo())),
      cores(affinity_cores()),
      memory_bytes(int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE)),
      started(iso_time(std::time(nullptr))) {
  for (const auto& [file, hash] : data) this->data[without_home(file)] = hash;
}

nlohmann::ordered_json Provenance::json() const {
  using Json = nlohmann::ordered_json;
  Json json = {{"command", command},
               {"version", version},
               {"commit", commit},
               {"libtorch", libtorch},
               {"started", started},
               {"processor", processor.name},
               {"vector_flags", processor.flags},
               {"cores", cores},
               {"threads", threads},
               {"memory_bytes", memory_bytes},
               {"data", data}};
  if (made_from) json["made_from"] = {{"by", made_from->by}, {"run", made_from->run}};
  return utf8(json);
}

Provenance parse_provenance(const std::string& name, std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) invalid(fmt::format("{} is damaged: it is not a JSON object", name));
  Provenance found;
  try {
    take_field(json, "command", found.command);
    take_field(json, "version", found.version);
    take_field(json, "commit", found.commit);
    take_field(json, "libtorch", found.libtorch);
    take_field(json, "started", found.started);
    take_field(json, "processor", found.processor.name);
    take_field(json, "vector_flags", found.processor.flags);
    take_field(json, "cores", found.cores);
    take_field(json, "threads", found.threads);
    take_field(json, "memory_bytes", found.memory_bytes);
    take_field(json, "data", found.data);
    if (const auto origin = json.find("made_from"); origin != json.end()) {
      if (!origin->is_object()) invalid("made_from is not an object");
      found.made_from.emplace();
      take_field(*origin, "by", found.made_from->by);
      take_field(*origin, "run", found.made_from->run);
    }
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    invalid(fmt::format("{} is damaged: {}", name, error.what()));
  }
  return found;
}

Provenance read_provenance(const std::string& path) {
  return std::filesystem::exists(path) ? parse_provenance(path, read_file(path)) : Provenance();
}

}  // namespace synthesizer
