#include "cli/paper_parameters.h"

#include <fmt/format.h>

#include "base/number_text.h"
#include "report/paper.h"
#include "run/settings.h"

namespace synthesizer::cli {

std::string paper_parameters(const std::string& recipe_file, const Recipe& recipe) {
  const std::string data = paper_data(recipe_file);
  if (data.empty() || recipe.model.attention.size() != 1) return "";
  const std::string& attention = recipe.model.attention.front();
  auto text = [&](const PaperFigure& figure, const char* where) {
    return fmt::format("{} parameters of {} on {}, {}", with_thousands(static_cast<int64_t>(figure.value)),
                       attention, figure.data, where);
  };
  if (const auto figure = paper_figure(data, attention, "parameters")) return text(*figure, "as printed");
  const Settings settings = parse_settings("recipe", to_toml(recipe));
  if (const auto figure = narang_figure(data, attention, settings, "parameters"))
    return text(*figure, "in Narang et al. 2021");
  return "";
}

}  // namespace synthesizer::cli
