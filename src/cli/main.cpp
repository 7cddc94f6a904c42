// synth: the command line. Exit status 0: done; 1: it could not be done; 2: the user's mistake. A mistake
// prints one line on standard error and changes nothing.

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <sstream>

#include "base/error.h"
#include "base/nearest.h"
#include "base/output.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/failures.h"
#include "cli/number_checks.h"
#include "cli/quiet_option.h"
#include "cli/threads_option.h"
#include "compare/train_planned_runs.h"
#include "runtime/memory.h"
#include "runtime/processor.h"

using synthesizer::finish_output;
using synthesizer::flush_output;
using synthesizer::OutputFailed;
using synthesizer::prepare_output;
using synthesizer::write_error;
using synthesizer::write_output;

namespace {

constexpr int kCouldNot = 1, kMistake = 2;
std::terminate_handler default_terminate = nullptr;

/// An error is one line, and it may quote what a file holds: a key with a line end, a byte that is a command
/// to a terminal.
std::string as_error_line(std::string message) {
  for (char& c : message) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    if (control) c = c == '\n' || c == '\r' || c == '\t' ? ' ' : '?';
  }
  return "synth: error: " + message + "\n";
}

int fail(int status, const std::string& message) {
  try {
    flush_output();  // results before the failure are results
  } catch (const OutputFailed&) {
    // One error is reported, the first.
  }
  write_error(as_error_line(message));
  return status;
}

/// The innermost command that was chosen.
const CLI::App* chosen(const CLI::App* app) {
  for (const CLI::App* sub : app->get_subcommands()) return chosen(sub);
  return app;
}

/// All commands below one.
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// As it is typed: "synth bench attention".
std::string name_of(const CLI::App* app) {
  return app->get_parent() ? name_of(app->get_parent()) + " " + app->get_name() : app->get_name();
}

/// Whether the command, or one below it, has the option.
bool takes(const CLI::App& app, const std::string& option) {
  if (app.get_option_no_throw(option)) return true;
  const auto below = commands_of(app);
  return std::any_of(below.begin(), below.end(), [&](const CLI::App* sub) { return takes(*sub, option); });
}

/// Names what was not understood, and the nearest that would have been.
std::string explain_extras(const CLI::App& program) {
  const CLI::App* app = chosen(&program);
  const auto extras = program.remaining(true);
  const std::string& first = extras.front();
  const std::string word = first.substr(0, first.find('='));
  const std::string where = name_of(app);
  if (word.starts_with("--") && takes(*app, word)) {
    return fmt::format(
        "option '{}' comes before its command: write it after the command ({} --help lists the {})", word,
        where, commands_of(*app).empty() ? "options" : "commands");
  }
  std::vector<std::string> known;
  for (const CLI::Option* option : app->get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (const CLI::App* sub : commands_of(*app)) known.push_back(sub->get_name());
  const char* what = word.starts_with("-") ? "option" : "argument";
  return fmt::format("{} has no {} '{}'{} ({} --help lists them)", where, what, word,
                     synthesizer::did_you_mean(word, known), where);
}

std::string explain_missing(const CLI::App& program, const CLI::RequiredError& missing) {
  // What is missing may be there under a mistyped name.
  if (!program.remaining(true).empty()) return explain_extras(program);
  const CLI::App* app = chosen(&program);
  const std::string where = name_of(app);
  if (!commands_of(*app).empty())
    return fmt::format("{} needs a command ({} --help lists them)", where, where);
  return fmt::format("{} ({} --help lists the options)", missing.what(), where);
}

/// CLI11 counts: "--beam: At Most 1 required but received 2", "--beam: 1 required INT missing".
std::string explain_mismatch(const CLI::App& program, const CLI::ArgumentMismatch& mismatch) {
  std::string text = mismatch.what();
  const std::string option = text.substr(0, text.find(": "));
  if (text.find(": At Most 1 ") != std::string::npos) {
    const std::string times = text.substr(text.rfind(' ') + 1);
    return fmt::format("{} is given {}: give it once", option, times == "2" ? "twice" : times + " times");
  }
  if (!text.ends_with(" missing")) return text;
  return fmt::format("{} needs a value ({} --help lists the options)", option, name_of(chosen(&program)));
}

/// What --help and --version print, to standard output.
int print_requested(const CLI::App& program, const CLI::Success& requested) {
  std::ostringstream out, err;
  program.exit(requested, out, err);
  write_output(out.str());
  finish_output();
  return 0;
}

/// The program up to its exit status: what a command throws becomes one line on standard error.
int synth(int argc, char** argv) {
  prepare_output();
  synthesizer::avoid_amx_trap();
  synthesizer::keep_freed_memory();
  CLI::App program(
      "Attention variants of the Synthesizer paper: train, decode, evaluate, inspect and compare models.",
      "synth");
  program.set_help_flag("-h,--help", "print this help and exit");
  program.set_version_flag("--version", std::string("synth ") + synthesizer::version(),
                           "print the version and exit");
  program.require_subcommand(1);
  program.fallthrough(false);
  const std::vector<std::string> command_line(argv, argv + argc);
  synthesizer::cli::add_variants(program);
  synthesizer::cli::add_params(program);
  synthesizer::cli::add_train(program, command_line);
  synthesizer::cli::add_eval(program);
  synthesizer::cli::add_translate(program);
  synthesizer::cli::add_generate(program);
  synthesizer::cli::add_classify(program);
  synthesizer::cli::add_average(program);
  synthesizer::cli::add_import(program, command_line);
  synthesizer::cli::add_inspect(program);
  synthesizer::cli::add_convert(program, command_line);
  synthesizer::cli::add_export(program, command_line);
  synthesizer::cli::add_grow(program, command_line);
  synthesizer::cli::add_score(program);
  synthesizer::cli::add_serve(program);
  synthesizer::cli::add_compare(program, command_line);
  synthesizer::cli::add_runs(program);
  synthesizer::cli::add_tokenize(program);
  synthesizer::cli::add_bench(program);
  synthesizer::cli::add_completion(program);
  synthesizer::cli::add_threads_option(program);
  synthesizer::cli::add_quiet_option(program);
  synthesizer::cli::add_number_checks(program);
  try {
    try {
      program.parse(argc, argv);
    } catch (const CLI::Success& requested) {
      return print_requested(program, requested);
    }
    finish_output();
    return 0;
  } catch (const CLI::ExtrasError&) {
    return fail(kMistake, explain_extras(program));
  } catch (const CLI::RequiredError& missing) {
    return fail(kMistake, explain_missing(program, missing));
  } catch (const CLI::ArgumentMismatch& mismatch) {
    return fail(kMistake, explain_mismatch(program, mismatch));
  } catch (const CLI::ConversionError& mistake) {
    const std::string text = mistake.what();
    return fail(kMistake,
                fmt::format("{} has the wrong type (see --help)", text.substr(text.find(": ") + 2)));
  } catch (const CLI::ParseError& mistake) {
    return fail(kMistake, mistake.what());
  } catch (const synthesizer::InvalidInput& mistake) {
    return fail(kMistake, mistake.what());
  } catch (const synthesizer::TrainingFailed& failure) {
    return failure.status;  // it has said why
  } catch (const std::exception& failure) {
    return fail(kCouldNot, synthesizer::cli::explain_failure(failure));
  }
}

/// The destructors of nlohmann::json allocate memory. Where there is none that is std::terminate, which gets
/// the status and the line of any other failure; files are as after a kill.
[[noreturn]] void end_without_memory() {
  try {
    if (const auto failure = std::current_exception()) std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    write_error("synth: error: out of memory\n");
    ::_exit(kCouldNot);
  } catch (...) {
    default_terminate();
  }
  default_terminate();
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  default_terminate = std::set_terminate(end_without_memory);
  int status = kCouldNot;
  try {
    status = synth(argc, argv);
  } catch (const std::bad_alloc&) {  // before a command had begun
    write_error("synth: error: out of memory\n");
  } catch (...) {  // not even a message could be made
    write_error("synth: error: the program failed for an unknown reason\n");
  }
  // Everything is written and closed. What the end of main() would do besides is to take LibTorch's
  // registrations of operators apart, one by one: a tenth of a second of every start.
  ::_exit(status);
}
