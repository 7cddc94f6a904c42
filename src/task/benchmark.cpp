#include "task/benchmark.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>

#include "base/error.h"
#include "base/nearest.h"
#include "task/glue.h"
#include "task/squad.h"
#include "task/superglue.h"

namespace synthesizer {
namespace {

/// "SST-2" and "sst2" are one name.
std::string bare(const std::string& name) {
  std::string letters;
  for (unsigned char c : name) {
    if (std::isalnum(c)) letters += static_cast<char>(std::tolower(c));
  }
  return letters;
}

/// Every line is a text of its own, to make a tokenizer from.
class PlainReader : public BenchmarkReader {
 public:
  std::vector<TextExample> read(const std::string& text, int64_t, const std::string&) override {
    return {{text, "", "", {}}};
  }
};

Benchmark span_corruption_text() {
  Benchmark text;
  text.name = "span-corruption";
  text.open = [](bool) { return std::make_unique<PlainReader>(); };
  text.running_text = true;
  return text;
}

double mean(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

}  // namespace

double task_score(const Benchmark& benchmark, const BenchmarkScores& scores) {
  std::vector<double> counted;
  if (benchmark.counted.empty()) {
    for (const auto& score : scores) counted.push_back(score.second);
  }
  for (const auto& name : benchmark.counted) {
    const auto found =
        std::find_if(scores.begin(), scores.end(), [&](auto& score) { return score.first == name; });
    if (found == scores.end()) invalid(fmt::format("{} has no {} to be averaged", benchmark.name, name));
    counted.push_back(found->second);
  }
  return mean(counted);
}

const std::vector<Benchmark>& benchmarks() {
  static const std::vector<Benchmark> list = [] {
    auto all = glue_benchmarks();
    for (auto& benchmark : superglue_benchmarks()) all.push_back(std::move(benchmark));
    all.push_back(squad_benchmark());
    all.push_back(span_corruption_text());
    return all;
  }();
  return list;
}

const Benchmark& find_benchmark(const std::string& name) {
  std::vector<std::string> names;
  for (const Benchmark& benchmark : benchmarks()) {
    if (bare(benchmark.name) == bare(name)) return benchmark;
    names.push_back(benchmark.name);
  }
  invalid(fmt::format("no benchmark '{}'{} (there are {})", name, did_you_mean(name, names),
                      fmt::join(names, ", ")));
}

double suite_average(const std::vector<std::pair<const Benchmark*, BenchmarkScores>>& results,
                     const std::string& suite) {
  std::map<std::string, std::vector<double>> tasks;
  for (const auto& [benchmark, scores] : results) {
    if (benchmark->suite == suite && !benchmark->counted.empty())
      tasks[benchmark->counted_as.empty() ? benchmark->name : benchmark->counted_as].push_back(
          task_score(*benchmark, scores));
  }
  if (tasks.empty()) invalid(fmt::format("no scores of suite '{}' to be averaged", suite));
  std::vector<double> means;
  means.reserve(tasks.size());
  for (const auto& [name, scores] : tasks) means.push_back(mean(scores));
  return mean(means);
}

}  // namespace synthesizer
