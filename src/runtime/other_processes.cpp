#include "runtime/other_processes.h"

#include <unistd.h>

#include <ctime>
#include <fstream>
#include <string>
#include <utility>

namespace synthesizer {

OtherProcesses::OtherProcesses(std::filesystem::path statistics)
    : statistics_(std::move(statistics)), last_(read()) {}

std::optional<OtherProcesses::Seconds> OtherProcesses::read() const {
  std::ifstream file(statistics_);
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft_interrupts = 0;
  file >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft_interrupts;
  timespec own = {};
  if (!file || name != "cpu" || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own) != 0) return std::nullopt;
  const double all = user + nice + system + interrupts + soft_interrupts;
  return Seconds(all / static_cast<double>(sysconf(_SC_CLK_TCK)) - static_cast<double>(own.tv_sec) -
                 1e-9 * static_cast<double>(own.tv_nsec));
}

std::optional<OtherProcesses::Seconds> OtherProcesses::since_last() {
  const auto now = read();
  const auto before = std::exchange(last_, now);
  if (!now || !before) return std::nullopt;
  return *now - *before;
}

}  // namespace synthesizer
