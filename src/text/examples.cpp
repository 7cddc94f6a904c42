#include "text/examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/nearest.h"
#include "text/records.h"

namespace synthesizer {
namespace {

std::string format_of(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  if (path.ends_with(".tsv")) return "tsv";
  return path.ends_with(".jsonl") ? "jsonl" : "lines";
}

/// 29,000
std::string grouped(int64_t number) {
  std::string digits = std::to_string(number);
  for (int64_t i = static_cast<int64_t>(digits.size()) - 3; i > 0; i -= 3)
    digits.insert(digits.begin() + i, ',');
  return digits;
}

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t") == std::string_view::npos;
}

}  // namespace

Files resolved(Files files) {
  if (files.paths.empty()) invalid("no files are named to read examples from: name at least one");
  if (files.format == "auto") {
    files.format = format_of(files.paths[0]);
    for (const auto& path : files.paths) {
      if (format_of(path) == files.format) continue;
      invalid(fmt::format("{} looks like {} and {} like {}: files of one split have one format",
                          files.paths[0], files.format, path, format_of(path)));
    }
  }
  const std::vector<std::string> formats{"auto", "lines", "tsv", "jsonl"};
  if (std::find(formats.begin(), formats.end(), files.format) == formats.end()) {
    invalid(fmt::format("format '{}' is none of auto, lines, tsv, jsonl{}", files.format,
                        did_you_mean(files.format, formats)));
  }
  if (files.format == "jsonl" && files.columns.empty()) {
    invalid(fmt::format("{}: name the keys of its objects that are to be read", files.paths[0]));
  }
  const size_t fields = files.concatenate ? 1 : files.paths.size();
  if (files.format == "lines" && !files.columns.empty() && files.columns.size() != fields) {
    invalid(fmt::format("{} column names for {} fields ({}): as lines, every file is one field",
                        files.columns.size(), fields, files.paths[0]));
  }
  return files;
}

ExampleReader::ExampleReader(Files files) : files_(resolved(std::move(files))) {
  if (files_.shaper) shaper_ = files_.shaper();
  if (parallel(files_)) {
    for (const auto& path : files_.paths) readers_.emplace_back(path);
    fields_ = files_.paths.size();
    opened_ = 1;
    return;
  }
  waiting_ = advance();
  if (files_.format == "lines") {
    fields_ = 1;
  } else if (!files_.columns.empty()) {
    fields_ = files_.columns.size();
  } else if (waiting_) {
    fields_ = width_ = split_tabs(text_).size();
    places_.resize(width_);
    std::iota(places_.begin(), places_.end(), size_t{0});
  }
}

std::string ExampleReader::where() const {
  return fmt::format("{}:{}", files_.paths[file()], line());
}

bool ExampleReader::next(std::vector<std::string>& fields) {
  if (!shaper_) return next_record(fields);
  std::vector<std::vector<std::string>> examples;
  while (shaped_.empty()) {
    std::vector<std::string> record;
    if (!next_record(record)) return false;
    examples.clear();
    shaper_->shape(record, line(), where(), examples);
    shaped_.assign(std::make_move_iterator(examples.begin()), std::make_move_iterator(examples.end()));
  }
  fields = std::move(shaped_.front());
  shaped_.pop_front();
  return true;
}

bool ExampleReader::next_record(std::vector<std::string>& fields) {
  fields.resize(fields_);
  if (parallel(files_)) return next_parallel(fields);
  do {
    if (!waiting_ && !advance()) return false;
    waiting_ = false;
  } while (files_.format == "jsonl" && blank(text_));
  if (files_.format == "lines") {
    fields[0].swap(text_);
  } else if (files_.format == "jsonl") {
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
    if (files_.format != "tsv" || files_.columns.empty() || !readers_[0].next(text_)) continue;
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
  return !ended;
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
  invalid(fmt::format("{} has {} lines and {} {}: parallel files need as many", files_.paths[first],
                      grouped(readers_[first].number()), files_.paths[second],
                      grouped(readers_[second].number())));
}

}  // namespace synthesizer
