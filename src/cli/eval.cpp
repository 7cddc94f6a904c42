// synth eval: loss, perplexities and the task's scores of a trained run.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/number_text.h"
#include "cli/command.h"
#include "cli/decode_options.h"
#include "task/run.h"

namespace synthesizer::cli {
namespace {

struct EvalArguments {
  std::string run, weights = "best";
  std::vector<std::string> data;
  DecodeArguments decode;
  bool no_text = false, json = false;
};

void evaluate(const EvalArguments& a) {
  const OpenRun open = open_run(a.run, a.weights);
  const Recipe& recipe = open.task->recipe();
  const auto data = open.task->open(split_files(recipe, a.data), false);
  for (const std::string& remark : data->remarks) fmt::print(stderr, "{}\n", remark);
  const Evaluation found = open.task->evaluate(*data, !a.no_text, a.decode.over(recipe.decode));
  if (a.json) {
    nlohmann::ordered_json object;
    for (const auto& [key, value] : found.scores) {
      if (is_count(key)) {
        object[key] = static_cast<int64_t>(value);
      } else {
        object[key] = value;
      }
    }
    for (const auto& [key, value] : found.notes) object[key] = value;
    return fmt::print("{}\n", object.dump(2));
  }
  for (const auto& [key, value] : found.scores) {
    fmt::print("{:<20} {}\n", key,
               is_count(key) ? with_thousands(static_cast<int64_t>(value)) : fmt::format("{:.4f}", value));
  }
  for (const auto& [key, value] : found.notes) fmt::print("{:<20} {}\n", key, value);
}

}  // namespace

void add_eval(CLI::App& program) {
  auto* command = program.add_subcommand("eval", "loss, perplexity and the task's scores of a run");
  auto a = std::make_shared<EvalArguments>();
  command->add_option("RUN", a->run, "its folder")->required();
  command->add_option("--data", a->data,
                      "train, dev or test, or files (default: test where there is one, else dev)");
  add_weights_option(*command, a->weights);
  add_decode_options(*command, a->decode);
  command->add_flag("--no-text", a->no_text, "loss and perplexity alone: write nothing, score nothing");
  command->add_flag("--json", a->json, "as a JSON object");
  command->callback([a] { evaluate(*a); });
}

}  // namespace synthesizer::cli
