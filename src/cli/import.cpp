// synth import: converts a model of another program into a run.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/print.h"
#include "inspect/new_run.h"
#include "interop/import_model.h"

namespace synthesizer::cli {
namespace {

struct ImportArguments {
  ImportOptions options;
  std::string to;
};

void import_run(const ImportArguments& a, const std::vector<std::string>& command) {
  check_does_not_exist(a.to);
  const auto task = import_model(a.options);
  write_new_run(a.to, *task, {"import", a.options.folder, command}, {});
  print_note("made {}, a {} run from {}\n", a.to, task->recipe().task, a.options.folder);
}

}  // namespace

void add_import(CLI::App& program, const std::vector<std::string>& command_line) {
  auto* command = program.add_subcommand("import", "convert a Hugging Face or Marian model into a run");
  auto a = std::make_shared<ImportArguments>();
  command
      ->add_option(
          "FOLDER", a->options.folder,
          "local folder with config.json, model.safetensors or pytorch_model.bin, and the tokenizer's files; "
          "or with Marian's decoder.yml")
      ->required();
  command->add_option("--run", a->to, "folder of the new run")->required()->type_name("DIR");
  command
      ->add_option("--ignore", a->options.ignored,
                   "unknown settings of the model, separated by commas, that do not change what it computes")
      ->delimiter(',')
      ->type_name("KEY");
  command->callback([a, command_line] { import_run(*a, command_line); });
}

}  // namespace synthesizer::cli
