// synth generate: text that goes on from a prompt.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "cli/command.h"
#include "cli/decode_options.h"
#include "task/run.h"
#include "text/utf8.h"

namespace synthesizer::cli {
namespace {

struct GenerateArguments {
  std::string run, weights = "best", prompt;
  int64_t tokens = 200;
  DecodeOptions decode;
};

void generate(const GenerateArguments& a) {
  check(a.decode);
  if (const size_t byte = first_invalid_byte(a.prompt); byte != std::string::npos)
    invalid(fmt::format("--prompt: byte {} is not UTF-8", byte + 1));
  const OpenRun open = open_run(a.run, a.weights);
  auto* generator = dynamic_cast<Generator*>(open.task.get());
  if (!generator) {
    invalid(fmt::format("{} is a {} run: it turns one text into another (synth translate)", a.run,
                        open.task->recipe().task));
  }
  fmt::print("{}", a.prompt);
  generator->generate(a.prompt, a.tokens, a.decode, [](const std::string& text) {
    fmt::print("{}", text);
    std::fflush(stdout);
  });
  fmt::print("\n");
}

}  // namespace

void add_generate(CLI::App& program) {
  auto* command = program.add_subcommand("generate", "text that goes on from a prompt");
  auto a = std::make_shared<GenerateArguments>();
  command->add_option("RUN", a->run, "its folder")->required();
  command->add_option("--prompt", a->prompt, "what it goes on from (default: nothing)");
  command->add_option("--tokens", a->tokens, "how many")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_option("--temperature", a->decode.temperature, "0: always the most likely token")
      ->capture_default_str();
  command->add_option("--top-k", a->decode.top_k, "only the k most likely; 0: all")->capture_default_str();
  command->add_option("--top-p", a->decode.top_p, "the fewest that reach this probability")
      ->capture_default_str();
  command->add_option("--seed", a->decode.seed, "another one gives another text")->capture_default_str();
  add_weights_option(*command, a->weights);
  command->callback([a] { generate(*a); });
}

}  // namespace synthesizer::cli
