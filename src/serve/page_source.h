#pragma once

#include <string_view>

namespace synthesizer::serve {

/// The page of GET /: HTML with style and scripts inside. Its source is written when the project is built
/// (embed_serve_page.cmake) from the files in page/ and, for the attention maps, those of report/page/.
extern const std::string_view kServePage;

}  // namespace synthesizer::serve
