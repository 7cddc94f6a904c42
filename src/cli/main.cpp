// synth: the command line. Exit status 0: done; 1: it could not be done; 2: the user's mistake. A mistake
// prints one line on standard error and changes nothing.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <new>

#include "base/error.h"
#include "base/nearest.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/threads_option.h"
#include "compare/train_members.h"
#include "runtime/memory.h"
#include "runtime/processor.h"

namespace {

constexpr int kCouldNot = 1, kMistake = 2;
constexpr const char* kOutOfMemory = "out of memory: a smaller model, or smaller batches, would need less";

int fail(int status, const std::string& message) {
  std::fputs(("synth: error: " + message + "\n").c_str(), stderr);  // never throws, though nobody may read it
  return status;
}

/// The innermost command that was chosen.
const CLI::App* chosen(const CLI::App* app) {
  for (const CLI::App* sub : app->get_subcommands()) return chosen(sub);
  return app;
}

/// Names what was not understood, and the nearest that would have been.
std::string explain_extras(const CLI::App& program) {
  const CLI::App* app = chosen(&program);
  const auto extras = program.remaining(true);
  const std::string& first = extras.front();
  const std::string word = first.substr(0, first.find('='));
  std::vector<std::string> known;
  for (const CLI::Option* option : app->get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (const CLI::App* sub : app->get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(sub->get_name());
  const std::string where = app == &program ? "synth" : "synth " + app->get_name();
  const char* what = word.starts_with("-") ? "option" : "argument";
  return fmt::format("{} has no {} '{}'{} ({} --help lists them)", where, what, word,
                     synthesizer::did_you_mean(word, known), where);
}

/// The program up to its exit status: what a command throws becomes one line on standard error.
int synth(int argc, char** argv) {
  synthesizer::avoid_amx_trap();
  synthesizer::keep_freed_memory();
  CLI::App program("Attentions whose alignment is synthesized: train, decode, measure, look into, compare.",
                   "synth");
  program.set_version_flag("--version", std::string("synth ") + synthesizer::version());
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
  synthesizer::cli::add_inspect(program);
  synthesizer::cli::add_convert(program, command_line);
  synthesizer::cli::add_export(program, command_line);
  synthesizer::cli::add_grow(program, command_line);
  synthesizer::cli::add_score(program);
  synthesizer::cli::add_compare(program, command_line);
  synthesizer::cli::add_bench(program);
  synthesizer::cli::add_threads_option(program);
  try {
    program.parse(argc, argv);
    return 0;
  } catch (const CLI::Success& asked_for_help) {
    return program.exit(asked_for_help);
  } catch (const CLI::ExtrasError&) {
    return fail(kMistake, explain_extras(program));
  } catch (const CLI::RequiredError& missing) {
    // What is missing may be there under a mistyped name.
    if (!program.remaining(true).empty()) return fail(kMistake, explain_extras(program));
    return fail(kMistake, fmt::format("{} (synth --help lists the commands)", missing.what()));
  } catch (const CLI::ConversionError& mistake) {
    const std::string text = mistake.what();
    return fail(kMistake,
                fmt::format("{} is not of the right kind (see --help)", text.substr(text.find(": ") + 2)));
  } catch (const CLI::ParseError& mistake) {
    return fail(kMistake, mistake.what());
  } catch (const synthesizer::InvalidInput& mistake) {
    return fail(kMistake, mistake.what());
  } catch (const synthesizer::TrainingFailed& failure) {
    return failure.status;  // it has said why
  } catch (const std::bad_alloc&) {
    return fail(kCouldNot, kOutOfMemory);
  } catch (const std::exception& failure) {
    const std::string text = failure.what();
    if (text.find("can't allocate memory") != std::string::npos) return fail(kCouldNot, kOutOfMemory);
    return fail(kCouldNot, text.substr(0, text.find('\n')));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return synth(argc, argv);
  } catch (...) {  // not even a message could be made
    std::fputs("synth: error: the program has failed and cannot say why\n", stderr);
    return kCouldNot;
  }
}
