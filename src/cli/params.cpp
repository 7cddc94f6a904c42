// synth params: counts parameters and multiply-adds of one layer, or the parameters of a recipe's model.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "attention/mixer.h"
#include "attention/spec.h"
#include "base/error.h"
#include "base/number_text.h"
#include "cli/command.h"
#include "cli/layer_options.h"
#include "cli/paper_parameters.h"
#include "cli/print.h"
#include "task/model_size.h"

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

/// The whole model of a recipe, at its true size and without its data.
void print_model(const std::string& file, const std::vector<std::string>& changes, bool as_json) {
  const Recipe recipe = load_recipe(file, changes);
  check_options_used(recipe);
  const ModelSize size = model_size(recipe);
  const std::string attention = fmt::format("{}", fmt::join(recipe.model.attention, ", "));
  const std::string paper = paper_parameters(file, recipe);
  if (as_json) {
    nlohmann::ordered_json parts = nlohmann::ordered_json::object();
    for (const auto& [part, count] : size.parts) parts[part] = count;
    const nlohmann::ordered_json object = {
        {"task", recipe.task}, {"attention", attention},      {"parts", parts},
        {"total", size.total}, {"synthesis", size.synthesis}, {"paper", paper}};
    return print_out("{}\n", object.dump(2));
  }
  print_out("{} with attention {}\n\n", recipe.task, attention);
  for (const auto& [part, count] : size.parts) print_out("  {:<30} {:>13}\n", part, with_thousands(count));
  print_out("  {:<30} {:>13}\n", "parameters", with_thousands(size.total));
  if (!paper.empty()) print_out("\n  {:<6} {}\n", "paper", paper);
}

}  // namespace

void add_params(CLI::App& program) {
  auto* command =
      program.add_subcommand("params", "count the parameters of one attention layer, or of a recipe's model");
  auto recipe = std::make_shared<std::string>();
  auto changes = std::make_shared<std::vector<std::string>>();
  command->add_option("RECIPE", *recipe,
                      "a recipe (TOML file): count its whole model; the data are not needed");
  command->add_option("--set", *changes, "change a key of the recipe, as in --set model.attention=R+V")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  auto arguments = add_layer_arguments(*command);
  auto length = std::make_shared<int64_t>(-1);
  auto json = std::make_shared<bool>(false);
  command->add_option("--attention", arguments->layer.attention,
                      "count one layer: a variant, a mixture such as R+V, or a baseline such as light-conv");
  command->add_flag("--bias", arguments->layer.bias, "add biases to the input and output projections");
  command->add_option("--length", *length, "sequence length for the multiply-adds (default: max-length)");
  command->add_flag("--json", *json, "print a JSON object");
  command->callback([=] {
    if (!recipe->empty()) return print_model(*recipe, *changes, *json);
    if (arguments->layer.attention.empty() || command->count("--attention") == 0)
      invalid("synth params needs --attention (for one layer) or a recipe (for its model)");
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
