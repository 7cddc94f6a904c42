#pragma once

#include <cstddef>

namespace synthesizer::picture {

/// Each from 0 to 1.
struct Colour {
  double red, green, blue;
};

inline constexpr Colour kInk{0.13, 0.13, 0.16}, kFaint{0.45, 0.45, 0.5}, kGrid{0.87, 0.87, 0.9},
    kBlank{0.94, 0.94, 0.95}, kPaper{1, 1, 1};

/// Matplotlib's viridis, dark blue at 0 to yellow at 1: equal steps look equal, also in grey.
Colour viridis(double share);

/// Blue at 0, nearly white at 1/2, red at 1 (ColorBrewer's RdBu, turned round): values on both sides of zero.
Colour diverging(double share);

/// Colours that are easily told apart, also by the colour-blind (Okabe and Ito); the ninth is the first
/// again.
Colour series_colour(size_t number);

}  // namespace synthesizer::picture
