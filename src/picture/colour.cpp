#include "picture/colour.h"

#include <algorithm>
#include <array>

namespace synthesizer::picture {
namespace {

double within(double share) {
  return std::clamp(share, 0.0, 1.0);
}

}  // namespace

Colour viridis(double share) {
  // A polynomial of degree 6 through the 256 colours; no channel is off by more than about 1/80.
  constexpr std::array<Colour, 7> kTerms = {{{0.2777273272, 0.0054073445, 0.3340998053},
                                             {0.1050930431, 1.4046135299, 1.3845901626},
                                             {-0.3308618287, 0.2148475595, 0.0950951630},
                                             {-4.6342304990, -5.7991009734, -19.3324409563},
                                             {6.2282699363, 14.1799333668, 56.6905526007},
                                             {4.7763849977, -13.7451453777, -65.3530326334},
                                             {-5.4354558559, 4.6458526122, 26.3124352496}}};
  const double t = within(share);
  Colour sum{0, 0, 0};
  for (size_t n = kTerms.size(); n-- > 0;) {
    sum = {sum.red * t + kTerms[n].red, sum.green * t + kTerms[n].green, sum.blue * t + kTerms[n].blue};
  }
  return {within(sum.red), within(sum.green), within(sum.blue)};
}

Colour diverging(double share) {
  constexpr std::array<Colour, 5> kStops = {{{0.019, 0.188, 0.380},
                                             {0.263, 0.576, 0.765},
                                             {0.969, 0.969, 0.969},
                                             {0.839, 0.376, 0.302},
                                             {0.404, 0.000, 0.122}}};
  const double place = within(share) * (kStops.size() - 1);
  const auto below = std::min(static_cast<size_t>(place), kStops.size() - 2);
  const double part = place - static_cast<double>(below);
  const Colour &a = kStops[below], &b = kStops[below + 1];
  return {a.red + part * (b.red - a.red), a.green + part * (b.green - a.green),
          a.blue + part * (b.blue - a.blue)};
}

Colour series_colour(size_t number) {
  constexpr std::array<Colour, 8> kColours = {{{0.000, 0.447, 0.698},
                                               {0.835, 0.369, 0.000},
                                               {0.000, 0.620, 0.451},
                                               {0.800, 0.475, 0.655},
                                               {0.902, 0.624, 0.000},
                                               {0.337, 0.706, 0.914},
                                               {0.600, 0.550, 0.100},
                                               {0.350, 0.350, 0.350}}};
  return kColours[number % kColours.size()];
}

}  // namespace synthesizer::picture
