// synth generate: continues a prompt with generated text.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "cli/command.h"
#include "cli/decode_options.h"
#include "cli/number_checks.h"
#include "cli/print.h"
#include "cli/wrong_task.h"
#include "task/run.h"
#include "task/unknown_tokens.h"
#include "text/utf8.h"

namespace synthesizer::cli {
namespace {

struct GenerateArguments {
  std::string run, weights = "best", prompt;
  int64_t tokens = 200, samples = 1;
  DecodeArguments decode;
};

/// The text as it grows.
void write_sample(const GenerateArguments& a, DecodeOptions decode, Generator& generator, int64_t number) {
  decode.seed += static_cast<uint64_t>(number);
  if (a.samples > 1)
    print_out("{}--- sample {}, seed {} ---\n", number > 0 ? "\n" : "", number + 1, decode.seed);
  print_out("{}", a.prompt);
  generator.generate(a.prompt, a.tokens, decode, [](const std::string& text) {
    print_out("{}", text);
    flush_output();
  });
  print_out("\n");
}

void generate(const GenerateArguments& a) {
  const DecodeOptions decode = a.decode.over({});
  if (const size_t byte = first_invalid_byte(a.prompt); byte != std::string::npos)
    invalid(fmt::format("--prompt: byte {} is not UTF-8", byte + 1));
  const OpenRun open = open_run(a.run, a.weights);
  auto* generator = dynamic_cast<Generator*>(open.task.get());
  if (!generator) wrong_task(a.run, *open.task, "does not continue a text");
  const UnknownTokens unknown = unknown_tokens(*open.task->tokenizers().target, a.prompt);
  if (unknown.unknown > 0) {
    print_note(
        "synth: warning: {} of the prompt's {} tokens are unknown to the tokenizer of {}: the model "
        "cannot tell them apart\n",
        unknown.unknown, unknown.tokens, a.run);
  }
  for (int64_t n = 0; n < a.samples; ++n) write_sample(a, decode, *generator, n);
}

}  // namespace

void add_generate(CLI::App& program) {
  auto* command = program.add_subcommand("generate", "continue a prompt with generated text");
  auto a = std::make_shared<GenerateArguments>();
  command->add_option("RUN", a->run, "the run's folder")->required();
  command->add_option("--prompt", a->prompt, "text to continue (default: none)");
  command->add_option("--tokens", a->tokens, "number of tokens to generate")
      ->capture_default_str()
      ->check(at_least(0));
  command->add_option("--samples", a->samples, "number of texts, with consecutive seeds")
      ->capture_default_str()
      ->check(at_least(1));
  a->decode.add_to(*command, DecodeOption::Use::sampling, /*defaults=*/true);
  add_weights_option(*command, a->weights);
  command->callback([a] { generate(*a); });
}

}  // namespace synthesizer::cli
