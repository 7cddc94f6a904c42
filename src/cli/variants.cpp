// synth variants: lists the registry as tables.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "attention/baselines.h"
#include "attention/registry.h"
#include "cli/command.h"
#include "cli/print.h"

namespace synthesizer::cli {
namespace {

void print_variants_json() {
  auto list = nlohmann::ordered_json::array();
  for (const Variant& v : variants()) {
    list.push_back({{"name", v.name},
                    {"short", v.abbreviation},
                    {"tokens", v.tokens_name()},
                    {"sample", v.sample_name()},
                    {"interacts", v.interacts},
                    {"parameters", v.parameters}});
  }
  print_out("{}\n", list.dump(2));
}

std::string option_names(const std::vector<OptionInfo>& options) {
  std::string all;
  for (const OptionInfo& option : options) all += (all.empty() ? "" : ", ") + option.name;
  return all;
}

void print_variant_table() {
  TextTable table({"short", "name", "row depends on", "sample", "interacts", "parameters of S", "options"});
  for (const Variant& v : variants()) {
    const std::string tokens = v.tokens == Variant::Tokens::all   ? "all tokens"
                               : v.tokens == Variant::Tokens::own ? "its own token"
                                                                  : "nothing";
    table.add({v.abbreviation, v.name, tokens, v.sample_name(), v.interacts ? "yes" : "no", v.parameters,
               option_names(v.options)});
  }
  table.print(7);
  print_out(
      "\nd width, h heads, N max_length, k rank; a·b ≥ N. Biases are not counted. Mixtures combine any "
      "variants: R+V, D+FR+V;\n"
      "option weights = learned, learned-per-head or sum.\n\n");
}

void print_baseline_table() {
  TextTable table({"baseline", "what it is", "causal", "parameters", "options"});
  for (const Baseline& r : baselines()) {
    table.add({r.name, r.help, r.causal ? "can be" : "never", r.parameters, option_names(r.options)});
  }
  table.print(5);
  print_out(
      "\nw kernel width, g groups (h unless set), k rank. Baselines cannot be mixed. A size can follow the "
      "name: light-conv:15, linformer:64.\n");
}

}  // namespace

void add_variants(CLI::App& program) {
  auto* command = program.add_subcommand("variants", "list all attention variants and baselines");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "print the attention variants as a JSON list");
  command->callback([json] {
    if (*json) return print_variants_json();
    print_variant_table();
    print_baseline_table();
  });
}

}  // namespace synthesizer::cli
