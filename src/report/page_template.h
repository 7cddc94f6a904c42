#pragma once

#include <string_view>

namespace synthesizer {

/// The page without its data: HTML with style, scripts and the chart library inside, and the two places
/// {{title}} and {{data}}. Its source is written when the project is built (embed_page.cmake) from the files
/// in page/.
extern const std::string_view kPageTemplate;

}  // namespace synthesizer
