#include "train/process_place.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "base/error.h"

namespace synthesizer {
namespace {

std::string_view environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_set(const char* name) {
  return !environment_value(name).empty();
}

/// Without WORLD_SIZE there is one process, unless the other variables say that it is one of several: each of
/// them would train a run of its own. (RANK alone may be another program's.)
void check_no_others() {
  if (!is_set("RANK") || !(is_set("MASTER_ADDR") || is_set("MASTER_PORT"))) return;
  invalid(
      fmt::format("RANK is '{}', {} is set and WORLD_SIZE is not: set WORLD_SIZE to the number of all "
                  "processes; for one process unset RANK",
                  environment_value("RANK"), is_set("MASTER_ADDR") ? "MASTER_ADDR" : "MASTER_PORT"));
}

int64_t whole_number(const char* name, int64_t least, int64_t most) {
  const std::string_view text = environment_value(name);
  if (text.empty()) {
    invalid(
        fmt::format("WORLD_SIZE is set and {} is not: several processes need RANK, WORLD_SIZE, MASTER_ADDR "
                    "and MASTER_PORT (torchrun sets them); for one process unset WORLD_SIZE",
                    name));
  }
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < least || value > most)
    invalid(fmt::format("{} is '{}': it must be a whole number from {} to {}", name, text, least, most));
  return value;
}

}  // namespace

std::optional<ProcessPlace> place_from_environment() {
  if (!is_set("WORLD_SIZE")) {
    check_no_others();
    return std::nullopt;
  }
  ProcessPlace place;
  place.size = whole_number("WORLD_SIZE", 1, std::numeric_limits<int32_t>::max());
  if (place.size == 1) {
    if (const std::string_view rank = environment_value("RANK"); !rank.empty() && rank != "0") {
      invalid(fmt::format(
          "RANK is '{}' and WORLD_SIZE is 1: set WORLD_SIZE to the number of all processes; for one "
          "process unset both",
          rank));
    }
    return std::nullopt;
  }
  place.rank = whole_number("RANK", 0, place.size - 1);
  place.port = whole_number("MASTER_PORT", 1, 65535);
  place.address = environment_value("MASTER_ADDR");
  if (place.address.empty())
    invalid(
        "WORLD_SIZE is set and MASTER_ADDR is not: give the host name or address of the machine of rank 0");
  place.local_size = is_set("LOCAL_WORLD_SIZE") ? whole_number("LOCAL_WORLD_SIZE", 1, place.size) : 0;
  // torchrun's agent runs the store and keeps it over restarts, which is why their keys must differ.
  place.external_store = environment_value("TORCHELASTIC_USE_AGENT_STORE") == "True";
  if (is_set("TORCHELASTIC_RESTART_COUNT"))
    place.restarts = whole_number("TORCHELASTIC_RESTART_COUNT", 0, std::numeric_limits<int32_t>::max());
  if (place.external_store) place.prefix = fmt::format("/worker/attempt_{}", place.restarts);
  return place;
}

}  // namespace synthesizer
