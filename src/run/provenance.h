#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace synthesizer {

/// A processor as /proc/cpuinfo describes it.
struct ProcessorDescription {
  std::string name;                ///< "unknown" where it says none
  std::vector<std::string> flags;  ///< those of avx2, avx512f and amx_bf16 that it has
};
ProcessorDescription describe_processor(std::string_view cpuinfo);

/// What it takes to get a run again, and what its speed is to be judged by: the contents of run.json.
/// It names neither the machine nor who uses it; the home folder in arguments and file names becomes "~".
struct Provenance {
  /// Where the weights come from when they were not trained but made from those of another run.
  struct Origin {
    std::string by;   ///< "convert", "grow", …
    std::string run;  ///< the other one
  };

  Provenance() = default;
  /// Looks at the machine and the clock. `data`: file names and their hashes.
  Provenance(std::vector<std::string> command, std::string version, std::string commit, std::string libtorch,
             int64_t threads, std::map<std::string, std::string> data);

  std::vector<std::string> command;
  std::string version, commit, libtorch;
  int64_t threads = 0;
  std::map<std::string, std::string> data;
  ProcessorDescription processor;
  int64_t cores = 0;         ///< that this process may use
  int64_t memory_bytes = 0;  ///< of the whole machine
  std::string started;       ///< ISO 8601, UTC

  std::optional<Origin> made_from;

  nlohmann::ordered_json json() const;
};

/// Reads a run.json; what it does not say keeps its default, and keys of others are passed over. `name` is
/// the file's name for messages. Throws InvalidInput, "NAME is damaged: …", where the text is not a JSON
/// object or a value is of another kind.
Provenance parse_provenance(const std::string& name, std::string_view text);
/// The same for a file; a run without one has no provenance.
Provenance read_provenance(const std::string& path);

/// A command's arguments as run.json has them: without the home folder, and in UTF-8.
std::vector<std::string> recorded_command(std::vector<std::string> command);

/// A path below the home folder names its owner; "~" means the same to a shell.
std::string without_home(std::string text);

/// Seconds since 1970 as "2026-08-01T12:34:56Z".
std::string iso_time(int64_t seconds);

}  // namespace synthesizer
