#include "picture/axis.h"

#include <fmt/format.h>

#include <cmath>

namespace synthesizer::picture {

std::string brief(double value) {
  if (std::abs(value) < 1e-12) return "0";
  if (std::abs(value) >= 1e4 && std::abs(value) < 1e9 && std::fmod(value, 1000) == 0)
    return fmt::format("{}k", static_cast<int64_t>(value / 1000));
  return fmt::format("{:.3g}", value);
}

Axis::Axis(double low, double high, bool logarithmic) : low_(low), high_(high), logarithmic_(logarithmic) {
  if (logarithmic_) {
    low_ = std::log10(low);
    high_ = std::log10(high);
  }
  if (!(high_ > low_)) high_ = low_ + 1;
}

double Axis::share(double value) const {
  return ((logarithmic_ ? std::log10(value) : value) - low_) / (high_ - low_);
}

std::vector<std::pair<double, std::string>> Axis::marks(int wanted) const {
  std::vector<std::pair<double, std::string>> found;
  double step = 1;
  if (logarithmic_) {
    step = std::max(1.0, std::ceil((high_ - low_) / wanted));
  } else {
    const double rough = (high_ - low_) / wanted, power = std::pow(10, std::floor(std::log10(rough)));
    const double lead = rough / power;
    step = power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
  }
  const double slack = (high_ - low_) * 1e-9;
  for (double n = std::ceil((low_ - slack) / step); n * step <= high_ + slack; ++n) {
    const double value = logarithmic_ ? std::pow(10, n * step) : n * step;
    found.emplace_back(value, brief(value));
  }
  return found;
}

}  // namespace synthesizer::picture
