#pragma once

#include <string>
#include <vector>

namespace synthesizer::serve {

/// A run to be served, and what it is called.
struct NamedRun {
  std::string name, folder;
};

struct RunList {
  std::vector<NamedRun> runs;
  std::vector<std::string> left_out;  ///< paths that hold no run
};

/// The runs that paths stand for: run folders, and folders of runs as `synth compare` leaves them, each for
/// all its runs. Other files and folders are left out, as long as there is a run: a shell's `*` names
/// whatever is there. A name is the last component of a run's path, with the one before it where several runs
/// would have the same. Throws InvalidInput where a path does not exist, where no run is found, where one is
/// given twice, and where two have the same name all the same.
RunList list_runs(const std::vector<std::string>& paths);

}  // namespace synthesizer::serve
