#include "run/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/number_text.h"
#include "base/shell_quote.h"
#include "run/run_folder.h"
#include "run/safetensors_header.h"

namespace synthesizer {
namespace {

namespace fs = std::filesystem;

int64_t whole_setting(const Settings& settings, const std::string& key) {
  int64_t number = 0;
  parse_number(setting(settings, key), number);
  return number;
}

/// The step of the saved state. None where it is gone or cannot be read: such a run cannot be resumed, and is
/// as its log has it.
std::optional<int64_t> saved_step(const std::string& state) {
  std::error_code none;
  if (!fs::exists(state, none)) return std::nullopt;
  try {
    const TensorHeader header = read_tensor_header(state);
    const auto found = header.metadata.find("step");
    int64_t step = 0;
    if (found == header.metadata.end() || !parse_number(found->second, step)) return std::nullopt;
    return step;
  } catch (const InvalidInput&) {
    return std::nullopt;
  }
}

bool are_quantized(const TensorHeader& weights) {
  if (weights.metadata.contains(kQuantizedKey)) return true;
  return std::any_of(weights.tensors.begin(), weights.tensors.end(),
                     [](const TensorEntry& entry) { return entry.dtype == "I8"; });
}

/// A list of TOML as people say it: `["V", "R"]` is "V, R".
std::string spoken(std::string text) {
  std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == '\'' || c == '"'; });
  const size_t begin = text.find_first_not_of(' ');
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

}  // namespace

std::string RunRecord::attention() const {
  std::string all = spoken(setting(settings, "model.attention"));
  const std::string encoder = spoken(setting(settings, "model.encoder_attention"));
  const std::string decoder = spoken(setting(settings, "model.decoder_attention"));
  if (encoder.empty() && decoder.empty()) return all;
  const std::string first = encoder.empty() ? all : encoder, second = decoder.empty() ? all : decoder;
  return first == second ? first : fmt::format("encoder {}, decoder {}", first, second);
}

const Measurement* RunRecord::best() const {
  const std::string watch = setting(settings, "train.watch");
  const std::string key = watch.empty() ? "loss" : watch;
  const bool lower = lower_is_better(key);
  const Measurement* best = nullptr;
  for (const Measurement& line : curves.of("dev")) {
    const double value = line.value(key).value_or(std::nan(""));
    if (!std::isfinite(value)) continue;
    if (!best || (lower ? value < *best->value(key) : value > *best->value(key))) best = &line;
  }
  return best;
}

bool RunRecord::finished() const {
  if (saved && *saved < steps()) return false;  // it was stopped after the last line of its log
  const int64_t wanted = whole_setting(settings, "train.steps");
  if (steps() >= wanted) return steps() > 0 || saved;  // train.steps = 0 is over when it has a state
  const int64_t patience = whole_setting(settings, "train.patience");
  const Measurement* at = best();
  if (patience == 0 || !at) return false;
  const auto& dev = curves.of("dev");
  const auto since =
      std::count_if(dev.begin(), dev.end(), [&](const auto& line) { return line.step > at->step; });
  return since >= patience;
}

double RunRecord::seconds() const {
  const auto& lines = curves.of("train");
  return lines.empty() ? 0 : lines.back().seconds;
}

std::optional<double> RunRecord::tokens_per_second() const {
  std::vector<double> speeds;
  for (const Measurement& line : curves.of("train")) {
    const auto speed = line.value("tokens_per_second");
    if (speed && std::isfinite(*speed)) speeds.push_back(*speed);
  }
  if (speeds.empty()) return std::nullopt;
  std::sort(speeds.begin(), speeds.end());
  const size_t half = speeds.size() / 2;
  return speeds.size() % 2 == 1 ? speeds[half] : (speeds[half - 1] + speeds[half]) / 2;
}

RunRecord read_run(const std::string& folder) {
  const RunFolder files{folder};
  files.check_is_run();
  RunRecord run;
  run.path = folder;
  const fs::path path = fs::path(folder).lexically_normal();
  run.name = (path.has_filename() ? path.filename() : path.parent_path().filename()).string();
  run.settings = read_settings(files.config());
  run.curves = read_curves(files.metrics());
  run.provenance = read_provenance(files.record());
  run.saved = saved_step(files.state());
  if (!fs::exists(files.model())) return run;
  const TensorHeader weights = read_tensor_header(files.model());
  run.parameters = count_parameters(weights);
  run.quantized = are_quantized(weights);
  return run;
}

void check_has_steps(const RunRecord& run) {
  if (run.steps() > 0) return;
  const std::string path = shell_quoted(run.path);
  if (run.provenance.made_from) {
    const std::string further =
        run.quantized ? ""
                      : fmt::format("train it further (synth train --init-from {} --run NEW), or ", path);
    invalid(
        fmt::format("{} was made by synth {} and has no training of its own to compare: {}measure it alone "
                    "with synth eval {}",
                    run.path, run.provenance.made_from->by, further, path));
  }
  if (whole_setting(run.settings, "train.steps") == 0 && !setting(run.settings, "train.steps").empty())
    invalid(fmt::format("{} was made with train.steps = 0: there is no training to compare", run.path));
  invalid(fmt::format("{} has no finished steps to compare: go on with synth train --run {} --resume",
                      run.path, path));
}

bool lower_is_better(std::string_view score) {
  for (const char* word : {"loss", "perplexity", "bits_per", "seconds", "bytes", "parameters", "objective"}) {
    if (score.find(word) != score.npos) return !score.ends_with("per_second");
  }
  return false;
}

}  // namespace synthesizer
