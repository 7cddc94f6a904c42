// synth params: parameters and multiply-adds of one layer.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "attention/mixer.h"
#include "attention/spec.h"
#include "base/number_text.h"
#include "cli/command.h"
#include "cli/layer_options.h"
#include "cli/print.h"

namespace synthesizer::cli {
namespace {

void print_parameter_table(const Mixer& layer, const Count& count, int64_t length) {
  TextTable table({"parameter", "shape", "count"});
  for (const Parameter& parameter : layer.parameters()) {
    std::string shape;
    for (int64_t size : parameter.shape) shape += (shape.empty() ? "" : "×") + std::to_string(size);
    table.add({parameter.name, shape,
               parameter.trained ? with_thousands(parameter.count())
                                 : with_thousands(parameter.count()) + " fixed"});
  }
  table.print(2);
  print_out("\nsynthesis  {}\ntotal      {}\nmacs       {} for one sequence of {}\n",
            with_thousands(count.synthesis), with_thousands(count.total), with_thousands(count.macs), length);
}

}  // namespace

void add_params(CLI::App& program) {
  auto* command = program.add_subcommand("params", "parameters and multiply-adds of one attention layer");
  auto arguments = add_layer_arguments(*command);
  auto length = std::make_shared<int64_t>(-1);
  auto json = std::make_shared<bool>(false);
  command
      ->add_option("--attention", arguments->layer.attention,
                   "a variant, a mixture such as R+V, or a baseline such as light-conv")
      ->required();
  command->add_flag("--bias", arguments->layer.bias, "biases of the projections of input and output");
  command->add_option("--length", *length, "length to count multiply-adds for (default: max-length)");
  command->add_flag("--json", *json, "as a JSON object");
  command->callback([=] {
    const auto layer = make_mixer(arguments->resolved());
    const AttentionOptions& options = layer->options();
    const int64_t counted = command->count("--length") > 0 ? *length : options.max_length;
    const Count count = layer->count(counted);
    if (!*json) return print_parameter_table(*layer, count, counted);
    nlohmann::ordered_json object = {{"attention", short_spec(options.attention)},
                                     {"width", options.width},
                                     {"heads", options.heads},
                                     {"max_length", options.max_length},
                                     {"length", counted},
                                     {"synthesis", count.synthesis},
                                     {"total", count.total},
                                     {"macs", count.macs}};
    print_out("{}\n", object.dump(2));
  });
}

}  // namespace synthesizer::cli
