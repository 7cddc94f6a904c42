#include "cli/paper_parameters.h"

#include <fmt/format.h>

#include "base/number_text.h"
#include "report/paper.h"
#include "run/run_record.h"

namespace synthesizer::cli {

std::string paper_parameters(const std::string& recipe_file, const Recipe& recipe) {
  const std::string data = paper_data(recipe_file);
  RunRecord run;
  run.settings = parse_settings("recipe", to_toml(recipe));
  const std::string attention = run.attention();
  if (data.empty() || attention.find(',') != attention.npos) return "";  // no model of the paper is mixed so
  const std::string model = recipe.model.recurrent_depth > 0 ? "recurrent " + attention : attention;
  auto text = [&](const PaperFigure& figure, const char* where) {
    return fmt::format("{} parameters of {} on {}, {}", with_thousands(static_cast<int64_t>(figure.value)),
                       model, figure.data, where);
  };
  if (const auto figure = paper_figure(data, attention, run.settings, "parameters"))
    return text(*figure, "as printed");
  if (const auto figure = narang_figure(data, attention, run.settings, "parameters"))
    return text(*figure, "in Narang et al. 2021");
  return fmt::format("no count of parameters of {} on {} is printed", model, data);
}

}  // namespace synthesizer::cli
