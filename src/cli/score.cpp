// synth score: computes any metric of the registry on files of texts.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "base/error.h"
#include "cli/choice_option.h"
#include "cli/command.h"
#include "cli/print.h"
#include "metric/registry.h"
#include "text/lines.h"

namespace synthesizer::cli {
namespace {

struct ScoreArguments {
  std::string metric, hypotheses;
  std::vector<std::string> references;
  bool json = false;
  MetricOptions values;               // of options that take one
  std::map<std::string, bool> flags;  // of options that are flags
};

/// An option of any metric, and who takes it.
struct Offered {
  MetricOption option;
  std::vector<std::string> takers;
};

std::vector<Offered> offered_options() {
  std::vector<Offered> all;
  for (const Metric& metric : metrics()) {
    for (const MetricOption& option : metric.options) {
      auto known =
          std::find_if(all.begin(), all.end(), [&](const auto& o) { return o.option.name == option.name; });
      if (known == all.end()) known = all.insert(all.end(), {option, {}});
      known->takers.push_back(metric.name);
    }
  }
  return all;
}

std::string help_of(const Offered& offered) {
  const MetricOption& option = offered.option;
  std::string help = fmt::format("{}: {}", fmt::join(offered.takers, ", "), option.help);
  if (!option.choices.empty()) help += fmt::format(", one of {}", fmt::join(option.choices, ", "));
  if (!option.flag && !option.fallback.empty()) help += fmt::format(" (default: {})", option.fallback);
  return help;
}

/// Which of the options were given; one that the metric doesn't take is a mistake.
MetricOptions given_options(const CLI::App& command, const ScoreArguments& arguments, const Metric& metric) {
  MetricOptions given;
  for (const auto& [name, value] : arguments.values) {
    if (command.count("--" + name) > 0) given[name] = value;
  }
  for (const auto& [name, value] : arguments.flags) {
    if (value) given[name] = "true";
  }
  complete(metric, given);
  return given;
}

Segments read_segments(const std::string& path) {
  LineReader reader(path);
  Segments segments;
  for (std::string line; reader.next(line);) segments.push_back(line);
  if (segments.empty()) invalid(fmt::format("{} is empty: there is nothing to score", path));
  return segments;
}

References read_references(const ScoreArguments& arguments, size_t segments) {
  References references;
  for (const std::string& path : arguments.references) {
    references.push_back(read_segments(path));
    if (references.back().size() == segments) continue;
    invalid(fmt::format("{} has {} segments and {} has {}: both need one line per segment",
                        arguments.hypotheses, segments, path, references.back().size()));
  }
  return references;
}

void check_standard_input(const ScoreArguments& arguments) {
  const auto& references = arguments.references;
  if ((arguments.hypotheses == "-") + std::count(references.begin(), references.end(), "-") > 1) {
    invalid("standard input (-) is named twice among --hyp and --ref: it can be read only once");
  }
}

void print_result_json(const MetricResult& result) {
  nlohmann::ordered_json object;
  for (const auto& [key, value] : result.values) {
    std::visit([&, &key = key](const auto& v) { object[key] = v; }, value);
  }
  print_out("{}\n", object.dump(2));
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Metric& metric : metrics()) names.push_back(metric.name);
  return names;
}

std::string list_of_metrics() {
  std::string list = "Metrics:\n";
  for (const Metric& metric : metrics()) list += fmt::format("  {:<12} {}\n", metric.name, metric.help);
  return list;
}

void add_metric_options(CLI::App& command, ScoreArguments& arguments) {
  for (const Offered& offered : offered_options()) {
    const std::string name = offered.option.name;
    if (offered.option.flag) {
      command.add_flag("--" + name, arguments.flags[name], help_of(offered));
    } else {
      auto* option = command.add_option("--" + name, arguments.values[name], help_of(offered));
      if (!offered.option.choices.empty()) option->check(suggested(offered.option.choices));
    }
  }
}

}  // namespace

void add_score(CLI::App& program) {
  auto* command = program.add_subcommand("score", "score texts against references, one segment per line");
  auto arguments = std::make_shared<ScoreArguments>();
  command->add_option("METRIC", arguments->metric, "the metric, see below")
      ->required()
      ->check(suggested(metric_names()));
  command
      ->add_option("--hyp", arguments->hypotheses, "file of texts to score, plain or gzip; -: standard input")
      ->required();
  command
      ->add_option("--ref", arguments->references,
                   "file of references; repeat the option for several references per segment")
      ->required()
      ->allow_extra_args(false);
  add_metric_options(*command, *arguments);
  command->add_flag("--json", arguments->json, "print a JSON object");
  command->footer(list_of_metrics());
  command->callback([=] {
    const Metric& metric = find_metric(arguments->metric);
    const MetricOptions options = given_options(*command, *arguments, metric);
    check_standard_input(*arguments);
    const Segments hypotheses = read_segments(arguments->hypotheses);
    const MetricResult result =
        score(metric, hypotheses, read_references(*arguments, hypotheses.size()), options);
    arguments->json ? print_result_json(result) : print_out("{}\n", result.text);
  });
}

}  // namespace synthesizer::cli
