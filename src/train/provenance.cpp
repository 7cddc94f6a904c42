#include "train/provenance.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

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
                       std::string libtorch, int threads, std::map<std::string, std::string> data)
    : command(std::move(command)),
      version(std::move(version)),
      commit(std::move(commit)),
      libtorch(std::move(libtorch)),
      threads(threads),
      processor(describe_processor(cpuinfo())),
      cores(affinity_cores()),
      memory_bytes(int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE)),
      started(iso_time(std::time(nullptr))) {
  for (auto& argument : this->command) argument = without_home(argument);
  for (const auto& [file, hash] : data) this->data[without_home(file)] = hash;
}

nlohmann::ordered_json Provenance::json() const {
  using Json = nlohmann::ordered_json;
  const Json json = {{"command", command},
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
  // An argument may be any bytes; what comes back is UTF-8, so that it can be written.
  return Json::parse(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace synthesizer
