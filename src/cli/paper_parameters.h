#pragma once

#include <string>

#include "task/recipe.h"

namespace synthesizer::cli {

/// "70,000,000 parameters of V on LM1B, as printed": what the paper, or the later study where the paper has
/// nothing, gives for the attention of this recipe; "no count of parameters of V on AG News is printed" where
/// neither does. Which data it is the recipe's file name says. Empty where it names none that are known, and
/// where layers or sides differ in their attention.
std::string paper_parameters(const std::string& recipe_file, const Recipe& recipe);

}  // namespace synthesizer::cli
