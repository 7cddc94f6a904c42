// synth eval: computes loss, perplexities and the task's scores of a trained run.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/number_text.h"
#include "cli/choice_option.h"
#include "cli/command.h"
#include "cli/decode_options.h"
#include "cli/print.h"
#include "cli/process_options.h"
#include "runtime/threads.h"
#include "task/process_agreement.h"
#include "task/run.h"
#include "task/unknown_tokens.h"
#include "text/content_hash.h"

namespace synthesizer::cli {
namespace {

struct EvalArguments {
  std::string run, weights = "best";
  std::vector<std::string> data;
  DecodeArguments decode;
  bool no_text = false, json = false, own_threads = false;  ///< own_threads: --threads was given
  ProcessOptions processes;
};

struct EvalResult {
  Evaluation found;
  UnknownTokens unknown;
};

/// Throws where the processes would not divide the same evaluation.
void check_same_work(ProcessGroup& group, const EvalArguments& a, const OpenRun& open, const Dataset& data,
                     const DecodeOptions& decode) {
  Recipe recipe = open.task->recipe();
  recipe.decode = decode;
  check_agreement(group, recipe, {&data},
                  {{"the weights", file_hash(open.folder.weights(a.weights))},
                   {"the tokenizer", open.task->tokenizers().hash()},
                   {"--no-text", a.no_text ? "given" : "not given"}});
}

EvalResult evaluate(const EvalArguments& a, ProcessGroup* group) {
  if (group && !a.own_threads) use_threads(threads_of_process(group));
  const OpenRun open = open_run(a.run, a.weights);
  const Recipe& recipe = open.task->recipe();
  const auto data = open.task->open(split_files(recipe, a.data), false);
  if (rank_of(group) == 0)
    for (const std::string& remark : data->remarks) print_note("{}\n", remark);
  const DecodeOptions decode = a.decode.over(recipe.decode);
  if (group) check_same_work(*group, a, open, *data, decode);
  open.task->share_evaluation(group);
  EvalResult result;
  result.found = open.task->evaluate(*data, !a.no_text, decode);
  if (rank_of(group) > 0) return result;
  result.unknown = unknown_tokens(*data);
  if (const auto warning = unknown_warning(*data, result.unknown)) print_note("synth: {}\n", *warning);
  return result;
}

void print_evaluation(const EvalArguments& a, const Evaluation& found, const UnknownTokens& unknown) {
  if (a.json) {
    nlohmann::ordered_json object;
    for (const auto& [key, value] : found.scores) {
      if (is_count(key)) {
        object[key] = static_cast<int64_t>(value);
      } else {
        object[key] = value;
      }
    }
    object["unknown_percent"] = unknown.percent();
    for (const auto& [key, value] : found.notes) object[key] = value;
    return print_out("{}\n", object.dump(2));
  }
  for (const auto& [key, value] : found.scores) {
    print_out("{:<20} {}\n", key,
              is_count(key) ? with_thousands(static_cast<int64_t>(value)) : fmt::format("{:.4f}", value));
  }
  print_out("{:<20} {:.4f}\n", "unknown_percent", unknown.percent());
  for (const auto& [key, value] : found.notes) print_out("{:<20} {}\n", key, value);
}

void evaluate(const EvalArguments& a) {
  EvalResult result;
  run_processes(
      a.processes, [&](ProcessGroup* group) { result = evaluate(a, group); },
      [&](int64_t rank) {
        if (rank == 0) print_evaluation(a, result.found, result.unknown);
        return 0;
      });
}

}  // namespace

void add_eval(CLI::App& program) {
  auto* command = program.add_subcommand("eval", "compute loss, perplexity and the task's scores of a run");
  auto a = std::make_shared<EvalArguments>();
  command->add_option("RUN", a->run, "the run's folder")->required();
  command
      ->add_option("--data", a->data,
                   "what to score: train, dev, test or files (default: test if there is one, else dev)")
      ->check(suggested({"train", "dev", "test"}))
      ->type_name("SPLIT|FILE");
  add_weights_option(*command, a->weights);
  a->decode.add_to(*command, DecodeOption::Use::search);
  add_workers_option(*command);
  command->add_flag("--no-text", a->no_text, "only loss and perplexity, without decoding");
  command->add_flag("--json", a->json, "print a JSON object");
  command
      ->add_option("--timeout", a->processes.timeout,
                   "with several processes: seconds without a sign of life until a process counts as lost")
      ->capture_default_str();
  command->callback([a, command] {
    a->own_threads = command->count("--threads") > 0;
    evaluate(*a);
  });
}

}  // namespace synthesizer::cli
