#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "task/benchmark.h"

namespace synthesizer::testing {

using Texts = std::vector<std::string>;

/// All examples of a file that has these lines.
inline std::vector<TextExample> read_lines(const Benchmark& benchmark, const std::vector<std::string>& lines,
                                           bool training = false) {
  const auto reader = benchmark.open(training);
  std::vector<TextExample> all;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string where = "f:" + std::to_string(i + 1);
    for (auto& example : reader->read(lines[i], static_cast<int64_t>(i + 1), where)) all.push_back(example);
  }
  return all;
}

/// "source -> target", one an example.
inline std::vector<std::string> shown(const std::vector<TextExample>& examples) {
  std::vector<std::string> texts;
  for (const auto& example : examples) texts.push_back(example.source + " -> " + example.target);
  return texts;
}
inline std::vector<std::string> texts(const std::string& name, const std::vector<std::string>& lines,
                                      bool training = false) {
  return shown(read_lines(find_benchmark(name), lines, training));
}

/// The complaint about these lines; empty where there is none.
inline std::string complaint(const Benchmark& benchmark, const std::vector<std::string>& lines) {
  try {
    read_lines(benchmark, lines);
  } catch (const InvalidInput& mistake) {
    return mistake.what();
  }
  return "";
}
inline std::string complaint(const std::string& name, const std::vector<std::string>& lines) {
  return complaint(find_benchmark(name), lines);
}

}  // namespace synthesizer::testing
