// synth export: exports a run for inference (recipe, tokenizers and weights), also quantized, or as a model
// of another program.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/error.h"
#include "base/number_text.h"
#include "cli/choice_option.h"
#include "cli/command.h"
#include "cli/decode_options.h"
#include "cli/dev_scores.h"
#include "cli/print.h"
#include "inspect/new_run.h"
#include "interop/ctranslate2.h"
#include "interop/huggingface_export.h"
#include "interop/onnx_export.h"
#include "model/prepare.h"

namespace synthesizer::cli {
namespace {

struct ExportArguments {
  std::string run, to, program, out, weights = "best";
  std::optional<Quantization> quantize;
  bool no_text = false, no_scores = false;
};

/// Another program, and what writes its model.
struct OtherProgram {
  const char* name;
  void (*write)(Task& task, const std::string& folder);
  const char* quantizes;  ///< who does it, in place of --quantize
};
constexpr OtherProgram kOtherPrograms[] = {
    {"ctranslate2", export_ctranslate2, "CTranslate2 quantizes a model when it loads it"},
    {"huggingface", export_huggingface, "transformers quantizes a model when it loads it"},
    {"onnx", export_onnx, "onnxruntime.quantization quantizes ONNX models"},
};

std::vector<std::string> other_programs() {
  std::vector<std::string> names;
  for (const OtherProgram& program : kOtherPrograms) names.emplace_back(program.name);
  return names;
}

/// For another program.
void export_model(const ExportArguments& a) {
  if (!a.to.empty())
    invalid("--run and --to exclude each other: --run makes a run, --to a model of another program");
  if (a.out.empty()) invalid("--out is missing: name the folder of the exported model");
  const auto& other = *std::find_if(std::begin(kOtherPrograms), std::end(kOtherPrograms),
                                    [&](const OtherProgram& one) { return a.program == one.name; });
  if (a.quantize) invalid(fmt::format("--quantize is for runs: {}", other.quantizes));
  check_does_not_exist(a.out);
  const OpenRun open = open_run(a.run, a.weights);
  check_not_quantized(open.task->model(), a.run);
  other.write(*open.task, a.out);
  print_note("made {}, a model for {}\n", a.out, a.program);
}

void export_run(const ExportArguments& a, const std::vector<std::string>& command) {
  if (!a.out.empty()) invalid("--out needs --to: name the target program");
  check_does_not_exist(a.to);
  const OpenRun open = open_run(a.run, a.weights);
  Task& task = *open.task;
  check_not_quantized(task.model(), a.run);
  Scores after;
  if (a.quantize) {
    const auto& files = task.recipe().data.dev;
    const auto dev = files.empty() || a.no_scores ? nullptr : task.open(files, false);
    Scores before;
    if (dev) before = dev_scores(task, *dev, !a.no_text);
    quantize(task.model(), *a.quantize);
    if (dev) print_scores(before, after = dev_scores(task, *dev, !a.no_text));
  }
  write_new_run(a.to, task, {"export", a.run, command}, after);
  const auto bytes = static_cast<double>(std::filesystem::file_size(RunFolder{a.to}.model()));
  print_note("made {}; its weights have {}\n", a.to, byte_text(bytes));
}

}  // namespace

void add_export(CLI::App& program, const std::vector<std::string>& command_line) {
  auto* command = program.add_subcommand(
      "export", "export a run for inference, optionally quantized, or for another program");
  auto a = std::make_shared<ExportArguments>();
  command->add_option("RUN", a->run, "the run's folder")->required();
  command->add_option("--run", a->to, "folder of the new run")->type_name("DIR");
  command
      ->add_option("--to", a->program, fmt::format("target program: {}", fmt::join(other_programs(), ", ")))
      ->check([](const std::string& name) {
        return name == "pt2" ? std::string("pt2 is not supported: use --to onnx, which supports every model")
                             : std::string();
      })
      ->check(CLI::IsMember(other_programs()));
  command->add_option("--out", a->out, "with --to: folder of the exported model")->type_name("DIR");
  add_choice(*command, "--quantize", a->quantize,
             "quantize the weights, for faster inference; the new run cannot be trained: ");
  add_weights_option(*command, a->weights);
  command->add_flag("--no-scores", a->no_scores, "with --quantize: do not compare scores on dev");
  command->add_flag("--no-text", a->no_text,
                    "with --quantize: compare only loss and perplexity, without decoding");
  command->callback([a, command_line] {
    if (a->program.empty()) {
      export_run(*a, command_line);
    } else {
      export_model(*a);
    }
  });
}

}  // namespace synthesizer::cli
