#include "attention/memory_cost.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <stdexcept>

#include "base/number_text.h"

namespace synthesizer {
namespace {

/// In double: a table of a very large maximum length has more entries than fit into an integer.
double bytes_of_parameter(const Parameter& parameter) {
  double bytes = 4;
  for (const int64_t size : parameter.shape) bytes *= static_cast<double>(size);
  return bytes;
}

std::string shape_text(const Parameter& parameter) {
  std::vector<std::string> sizes;
  for (const int64_t size : parameter.shape) sizes.push_back(with_thousands(size));
  return fmt::format("{}", fmt::join(sizes, " × "));
}

}  // namespace

void check_fits_memory(const std::vector<Parameter>& parameters, int64_t layers) {
  static const double memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  double sum = 0;
  const Parameter* largest = nullptr;
  for (const Parameter& parameter : parameters) {
    sum += bytes_of_parameter(parameter) * static_cast<double>(layers);
    if (!largest || bytes_of_parameter(parameter) > bytes_of_parameter(*largest)) largest = &parameter;
  }
  if (!largest || sum <= memory) return;
  const double own = bytes_of_parameter(*largest);
  const char* instead = largest->name.ends_with(".table")
                            ? ", and so does FR, whose factors grow with max_length and not with its square"
                            : "";
  throw std::runtime_error(fmt::format(
      "out of memory: {} of {} numbers takes {}{}, and this machine has {}: a smaller max_length, width or "
      "number of layers needs less{}",
      largest->name, shape_text(*largest), byte_text(own),
      layers > 1 ? fmt::format(", all {} layers {}", layers, byte_text(sum)) : "", byte_text(memory),
      instead));
}

}  // namespace synthesizer
