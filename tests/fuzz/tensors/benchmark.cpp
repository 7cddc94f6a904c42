#include "task/benchmark.h"

#include "fuzz/memory_file.h"
#include "fuzz/targets.h"
#include "text/lines.h"

namespace synthesizer::fuzz {

/// Its first byte chooses the benchmark, and whether the file is for training.
void run_benchmark(std::string_view input) {
  static const MemoryFile file;
  if (input.empty()) return;
  const auto choice = static_cast<unsigned char>(input[0]);
  file.write(input.substr(1));
  const auto& all = benchmarks();
  const Benchmark& benchmark = all[choice / 2 % all.size()];
  std::vector<TextExample> examples;
  const bool read = accepted(file.path(), [&] {
    const auto reader = benchmark.open(choice % 2 != 0);
    LineReader lines(file.path());
    for (std::string line; lines.next(line);) {
      const std::string where = file.path() + ":" + std::to_string(lines.number());
      for (TextExample& example : reader->read(line, lines.number(), where))
        examples.push_back(std::move(example));
    }
  });
  if (!read || examples.empty() || benchmark.running_text) return;  // running text has no score
  std::vector<std::string> answers;
  for (const TextExample& example : examples) answers.push_back(example.target);
  try {
    benchmark.score(examples, answers);
  } catch (const InvalidInput&) {  // too few examples for this score
  }
}

}  // namespace synthesizer::fuzz
