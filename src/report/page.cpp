#include "report/page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"
#include "report/page_template.h"

namespace synthesizer {
namespace {

/// Text between tags.
std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      default: safe += c;
    }
  }
  return safe;
}

/// JSON that may stand inside a script element: no "<", so that no text in it ends the element.
std::string script_json(const nlohmann::json& report) {
  const auto json = report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string page(const nlohmann::json& report) {
  if (!report.is_object() || !report.contains("runs") || !report["runs"].is_array()) {
    invalid("a report has no list 'runs': see docs/report-data.md");
  }
  // Invalid UTF-8 is replaced in the title as in the rest of the data.
  const auto data = script_json(report);
  const auto title = escaped(nlohmann::json::parse(data).value("title", "Report"));
  std::string html;
  html.reserve(kPageTemplate.size() + data.size() + 1024);
  for (auto rest = kPageTemplate; !rest.empty();) {
    const auto place = std::min(rest.find("{{title}}"), rest.find("{{data}}"));
    html += rest.substr(0, place);
    if (place == std::string_view::npos) break;
    const bool is_title = rest.substr(place).starts_with("{{title}}");
    html += is_title ? title : data;
    rest.remove_prefix(place + (is_title ? 9 : 8));
  }
  return html;
}

}  // namespace synthesizer
