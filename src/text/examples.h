#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/choice.h"
#include "text/lines.h"

namespace synthesizer {

/// Converts records of files into examples of a task: one record can give several examples, or none (a
/// header). It receives the records of all files in order and may keep state.
class RecordConverter {
 public:
  virtual ~RecordConverter() = default;
  virtual size_t fields() const = 0;  ///< of an example
  /// `record`: the fields as they stand in the file; `line`: from 1 in its file; `where`: "train.tsv:17".
  virtual void convert(std::vector<std::string>& record, int64_t line, const std::string& where,
                       std::vector<std::vector<std::string>>& examples) = 0;
};

/// How text lies in files.
enum class TextFormat { automatic, lines, tsv, jsonl };
inline Choices choices(TextFormat) {
  static constexpr ChoiceName names[] = {{"auto", "by the name"}, {"lines"}, {"tsv"}, {"jsonl"}};
  return names;
}

/// Where the examples of one split come from.
struct Files {
  std::vector<std::string> paths;  ///< lines: one file per field, line-aligned; tsv, jsonl: one after another
  TextFormat format = TextFormat::automatic;  ///< automatic: by the name, a final .gz aside
  std::vector<std::string>
      columns;               ///< the fields wanted, by name: of the tsv header, or jsonl keys; without
                             ///< names a tsv file has no header, and each of its columns is a field
  bool concatenate = false;  ///< lines: files one after another, one field (language models)

  std::function<std::unique_ptr<RecordConverter>()> converter;  ///< none: records are the examples
  std::string converter_key;  ///< says all that the converter's work depends on

  size_t side_by_side = 0;  ///< lines in shards: files of one shard, one per field; 0: all are one shard
};

/// The same with its format found out. Throws InvalidInput where the parts contradict each other.
Files resolved(Files files);

/// Each field has a file of its own: line n of all of them is one example.
inline bool parallel(const Files& files) {
  return files.format == TextFormat::lines && !files.concatenate;
}
/// How many files are read side by side, where they are parallel.
inline size_t parallel_width(const Files& files) {
  return files.side_by_side > 0 ? files.side_by_side : files.paths.size();
}

/// Examples one after another, a few texts each, from the formats corpora come in. Throws InvalidInput, with
/// file and line, where a file does not hold what it should.
class ExampleReader {
 public:
  explicit ExampleReader(Files files);

  size_t fields() const { return converter_ ? converter_->fields() : fields_; }
  /// The next example; false at the end.
  bool next(std::vector<std::string>& fields);

  /// Where the example that next() gave begins.
  /// Its place in Files::paths; parallel files: the first of its shard.
  size_t file() const { return opened_ - 1; }
  int64_t line() const { return readers_[0].number(); }  ///< from 1
  std::string where() const;                             ///< "train.tsv:17"

 private:
  /// The next record, as it stands in the files.
  bool next_record(std::vector<std::string>& fields);
  bool next_parallel(std::vector<std::string>& fields);
  /// Opens the files of the next shard; false where there is none.
  bool open_shard();
  /// The next line of files one after another; their header lines are read in passing.
  bool advance();
  void take_row(std::vector<std::string>& fields);
  [[noreturn]] void uneven(size_t shorter);

  Files files_;
  size_t fields_ = 0;
  std::vector<LineReader> readers_;  // parallel files: all; otherwise the current one
  size_t opened_ = 0;
  std::string text_;
  bool waiting_ = false;        // text_ was read to count its fields and not given out yet
  size_t width_ = 0;            // of a tsv row
  std::vector<size_t> places_;  // of the wanted columns in it
  std::unique_ptr<RecordConverter> converter_;
  std::deque<std::vector<std::string>> converted_;  // examples of the record read last, not given out yet
};

}  // namespace synthesizer
