#include "text/examples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/number_text.h"
#include "text/records.h"

namespace synthesizer {
namespace {

TextFormat format_of(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  if (path.ends_with(".tsv")) return TextFormat::tsv;
  return path.ends_with(".jsonl") ? TextFormat::jsonl : TextFormat::lines;
}

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t") == std::string_view::npos;
}

}  // namespace

Files resolved(Files files) {
  if (files.paths.empty()) invalid("no files are named to read examples from: name at least one");
  if (files.format == TextFormat::automatic) {
    files.format = format_of(files.paths[0]);
    for (const auto& path : files.paths) {
      if (format_of(path) == files.format) continue;
      invalid(fmt::format("{} looks like {} and {} like {}: files of one split have one format",
                          files.paths[0], choice_name(files.format), path, choice_name(format_of(path))));
    }
  }
  if (files.format == TextFormat::jsonl && files.columns.empty()) {
    invalid(fmt::format("{}: name the keys of its objects that are to be read", files.paths[0]));
  }
  const size_t fields = files.concatenate ? 1 : parallel_width(files);
  if (files.format == TextFormat::lines && !files.columns.empty() && files.columns.size() != fields) {
    invalid(fmt::format("{} column names for {} fields ({}): as lines, every file is one field",
                        files.columns.size(), fields, files.paths[0]));
  }
  return files;
}

ExampleReader::ExampleReader(Files files) : files_(resolved(std::move(files))) {
  if (files_.converter) converter_ = files_.converter();
  if (parallel(files_)) {
    fields_ = parallel_width(files_);
    open_shard();
    return;
  }
  waiting_ = advance();
  if (files_.format == TextFormat::lines) {
    fields_ = 1;
  } else if (!files_.columns.empty()) {
    fields_ = files_.columns.size();
  } else if (waiting_) {
    const auto row = split_tabs(text_);
    if (looks_like_header(row)) {
      invalid(
          fmt::format("{}: '{}' looks like a header line, and without data.columns a table has none: write "
                      "data.columns = [\"{}\"], or remove the line",
                      where(), fmt::join(row, "', '"), fmt::join(row, "\", \"")));
    }
    fields_ = width_ = row.size();
    places_.resize(width_);
    std::iota(places_.begin(), places_.end(), size_t{0});
  }
}

std::string ExampleReader::where() const {
  return fmt::format("{}:{}", files_.paths[file()], line());
}

bool ExampleReader::next(std::vector<std::string>& fields) {
  if (!converter_) return next_record(fields);
  std::vector<std::vector<std::string>> examples;
  while (converted_.empty()) {
    std::vector<std::string> record;
    if (!next_record(record)) return false;
    examples.clear();
    converter_->convert(record, line(), where(), examples);
    converted_.assign(std::make_move_iterator(examples.begin()), std::make_move_iterator(examples.end()));
  }
  fields = std::move(converted_.front());
  converted_.pop_front();
  return true;
}

bool ExampleReader::next_record(std::vector<std::string>& fields) {
  fields.resize(fields_);
  if (parallel(files_)) return next_parallel(fields);
  do {
    if (!waiting_ && !advance()) return false;
    waiting_ = false;
  } while (files_.format == TextFormat::jsonl && blank(text_));
  if (files_.format == TextFormat::lines) {
    fields[0].swap(text_);
  } else if (files_.format == TextFormat::jsonl) {
    fields = read_json_record(text_, files_.columns, where());
  } else {
    take_row(fields);
  }
  return true;
}

bool ExampleReader::advance() {
  for (;;) {
    if (!readers_.empty() && readers_[0].next(text_)) return true;
    if (opened_ == files_.paths.size()) return false;
    readers_.clear();
    readers_.emplace_back(files_.paths[opened_++]);
    if (files_.format != TextFormat::tsv || files_.columns.empty() || !readers_[0].next(text_)) continue;
    places_ = find_columns(text_, files_.columns, where());
    width_ = split_tabs(text_).size();
  }
}

void ExampleReader::take_row(std::vector<std::string>& fields) {
  const auto parts = split_tabs(text_);
  if (parts.size() != width_) {
    invalid(fmt::format("{}: {} fields, where the {} has {}", where(), parts.size(),
                        files_.columns.empty() ? "first row" : "header", width_));
  }
  for (size_t i = 0; i < fields_; ++i) fields[i] = parts[places_[i]];
}

bool ExampleReader::next_parallel(std::vector<std::string>& fields) {
  std::optional<size_t> ended;
  size_t read = 0;
  for (size_t i = 0; i < fields_; ++i) {
    if (readers_[i].next(fields[i])) {
      ++read;
    } else if (!ended) {
      ended = i;
    }
  }
  if (ended && read > 0) uneven(*ended);
  return !ended || (open_shard() && next_parallel(fields));
}

bool ExampleReader::open_shard() {
  const size_t begin = opened_ == 0 ? 0 : file() + fields_;
  if (begin == files_.paths.size()) return false;
  readers_.clear();
  for (size_t i = 0; i < fields_; ++i) readers_.emplace_back(files_.paths[begin + i]);
  opened_ = begin + 1;
  return true;
}

void ExampleReader::uneven(size_t shorter) {
  std::string rest;
  for (auto& reader : readers_) {
    while (reader.next(rest)) {
    }
  }
  const auto longer = std::find_if(readers_.begin(), readers_.end(), [&](const LineReader& reader) {
    return reader.number() > readers_[shorter].number();
  });
  const auto [first, second] = std::minmax({shorter, static_cast<size_t>(longer - readers_.begin())});
  invalid(fmt::format("{} has {} lines and {} {}: parallel files need as many", readers_[first].path(),
                      with_thousands(readers_[first].number()), readers_[second].path(),
                      with_thousands(readers_[second].number())));
}

}  // namespace synthesizer
