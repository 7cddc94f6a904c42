// synth inspect: shows a run's attention maps, tables and mixture weights as pictures, JSON and a summary.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/folders.h"
#include "base/range.h"
#include "cli/choice_option.h"
#include "cli/command.h"
#include "cli/decode_options.h"
#include "cli/number_checks.h"
#include "cli/print.h"
#include "inspect/json.h"
#include "inspect/pictures.h"
#include "task/run.h"

namespace synthesizer::cli {
namespace {

namespace fs = std::filesystem;

struct InspectArguments {
  std::string run, weights = "best", out, format = "png", stack;
  InspectOptions look;
  bool json = false;
  CLI::Option* text = nullptr;
};

/// The place that --stack names; none where it was not given.
std::optional<AttentionPlace> only(const InspectArguments& a) {
  if (a.stack.empty()) return std::nullopt;
  return choose<AttentionPlace>("--stack", a.stack);
}

void write_pictures(const InspectArguments& a, const Inspection& found, picture::Format format) {
  auto pictures = map_pictures(found, only(a));
  for (auto more : {table_pictures(found), number_pictures(found)})
    pictures.insert(pictures.end(), more.begin(), more.end());
  for (const NamedPicture& one : pictures)
    write_file(fmt::format("{}/{}{}", a.out, one.name, picture::ending(format)), one.draw(format));
  print_note("wrote {} pictures and inspect.json to {}\n", pictures.size(), a.out);
}

void inspect(const InspectArguments& a) {
  const picture::Format format = picture::format_of(a.format);
  const auto stack = only(a);
  if (a.text->count() > 0 && a.look.text.empty()) invalid("--text is empty: give a text to inspect");
  if (a.text->count() == 0 && !a.look.target.empty())
    invalid("--target needs --text, the input text it belongs to");
  if (!a.out.empty() && fs::exists(a.out) && !fs::is_directory(a.out))
    invalid(fmt::format("--out {} is a file: name a folder", a.out));
  const OpenRun open = open_run(a.run, a.weights);
  const Inspection found = inspect_run(open, a.look);
  const auto has = [&](const InspectedLayer& layer) { return layer.captured.stack == stack; };
  if (stack && std::none_of(found.layers.begin(), found.layers.end(), has))
    invalid(fmt::format("--stack {}: {} has no attention weights there", a.stack, a.run));
  const auto json = to_json(found);
  if (!a.out.empty()) {
    make_folders(a.out);
    write_pictures(a, found, format);
    write_file(a.out + "/inspect.json", json.dump() + "\n");
  }
  if (a.json) return print_out("{}\n", json.dump());
  for (const std::string& line : summary_of(found)) print_out("{}\n", line);
}

}  // namespace

void add_inspect(CLI::App& program) {
  auto* command = program.add_subcommand(
      "inspect", "show a run's attention maps, tables and mixture weights, as pictures and JSON");
  auto a = std::make_shared<InspectArguments>();
  command->add_option("RUN", a->run, "the run's folder")->required();
  a->text = command->add_option("--text", a->look.text, "input text (default: some lines of dev)");
  command->add_option("--target", a->look.target,
                      "decoder input, for tasks that have one (default: the model's own output)");
  command
      ->add_option("--out", a->out, "folder for pictures and inspect.json (default: print the summary only)")
      ->type_name("DIR");
  command->add_option("--format", a->format, "picture format: png or svg")
      ->capture_default_str()
      ->check(suggested({"png", "svg"}));
  command
      ->add_option("--stack", a->stack,
                   "maps to draw: encoder, decoder or cross (cross-attention); default: all")
      ->check(suggested(names_of(choices(AttentionPlace{}))));
  command->add_option("--lines", a->look.lines, "maximum number of dev lines to average over")
      ->capture_default_str()
      ->check(at_least(1));
  add_weights_option(*command, a->weights);
  command->add_flag("--json", a->json, "print everything as a JSON object instead of the summary");
  command->callback([a] { inspect(*a); });
}

}  // namespace synthesizer::cli
