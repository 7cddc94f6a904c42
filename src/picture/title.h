#pragma once

#include <algorithm>
#include <string>

#include "picture/canvas.h"

namespace synthesizer::picture {

/// Round every picture, and what its title and subtitle take at the top.
inline constexpr double kMargin = 18, kTitleHeight = 46;
inline constexpr TextStyle kTitleStyle{.size = 14, .bold = true},
    kSubtitleStyle{.size = 10, .colour = kFaint};
/// Of the names of axes and of scales.
inline constexpr TextStyle kAxisName{.size = 10, .anchor = Anchor::middle, .colour = kFaint};

/// The least width of a picture that both lines fit into.
inline double title_width(const std::string& title, const std::string& subtitle) {
  return 2 * kMargin + std::max(text_width(title, kTitleStyle), text_width(subtitle, kSubtitleStyle));
}

inline void draw_title(Canvas& canvas, const std::string& title, const std::string& subtitle) {
  canvas.text({kMargin, kMargin + 12}, title, kTitleStyle);
  canvas.text({kMargin, kMargin + 28}, subtitle, kSubtitleStyle);
}

}  // namespace synthesizer::picture
