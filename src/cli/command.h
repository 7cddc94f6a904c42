#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace synthesizer::cli {

/// Each command adds itself to the program: its options, its help, and what it does when it is chosen.
void add_variants(CLI::App& program);
void add_params(CLI::App& program);
void add_bench(CLI::App& program);
void add_train(CLI::App& program, const std::vector<std::string>& command_line);
void add_eval(CLI::App& program);
void add_translate(CLI::App& program);
void add_generate(CLI::App& program);
void add_classify(CLI::App& program);
void add_average(CLI::App& program);
void add_score(CLI::App& program);
void add_serve(CLI::App& program);
void add_compare(CLI::App& program, const std::vector<std::string>& command_line);
void add_inspect(CLI::App& program);
void add_convert(CLI::App& program, const std::vector<std::string>& command_line);
void add_export(CLI::App& program, const std::vector<std::string>& command_line);
void add_import(CLI::App& program, const std::vector<std::string>& command_line);
void add_grow(CLI::App& program, const std::vector<std::string>& command_line);
void add_runs(CLI::App& program);
void add_tokenize(CLI::App& program);
void add_completion(CLI::App& program);

/// A table for people: columns as wide as their widest entry, the first one left-aligned, numbers
/// right-aligned.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// `left`: how many of the first columns hold words.
  void print(size_t left) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace synthesizer::cli
