#include "cli/wrong_task.h"

#include <fmt/format.h>

#include "base/error.h"

namespace synthesizer::cli {
namespace {

std::string use_of(const Task& task) {
  if (dynamic_cast<const Generator*>(&task)) return "synth generate, which continues a text";
  if (dynamic_cast<const TextClassifier*>(&task)) return "synth classify, which gives the class of a text";
  return "synth translate, which turns one text into another";
}

}  // namespace

void wrong_task(const std::string& run, const Task& task, const std::string& lacks) {
  invalid(fmt::format("{} is a {} run and {}: use {}", run, task.recipe().task, lacks, use_of(task)));
}

}  // namespace synthesizer::cli
