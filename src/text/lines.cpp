#include "text/lines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/folders.h"
#include "text/standard_input.h"
#include "text/utf8.h"

namespace synthesizer {

struct LineReader::Source {
  explicit Source(std::string path);
  ~Source() {
    if (file != nullptr) gzclose_r(file);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// Brings the next bytes into the buffer; false at the end.
  bool refill();
  [[noreturn]] void fail() const;

  std::string path;
  std::string name;  ///< for messages
  gzFile file = nullptr;
  std::unique_ptr<StandardInput> input;  ///< instead of the file
  std::vector<char> buffer = std::vector<char>(size_t{1} << 17);
  std::string_view rest;  ///< what of the buffer has not been given out
  std::string begun;      ///< the beginning of a line whose end ready() has not found
  bool ended = false;
  int64_t number = 0;
};

LineReader::Source::Source(std::string given)
    : path(std::move(given)), name(path == "-" ? "standard input" : path) {
  std::error_code ignored;
  if (path != "-" && std::filesystem::is_directory(path, ignored)) {
    invalid(fmt::format("{} is a folder, not a file", path));
  }
  if (path == "-") {
    input = std::make_unique<StandardInput>();
    if (!input->gzipped()) return;
  }
  const int descriptor = input ? input->spooled() : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  input.reset();
  if (descriptor < 0) cannot_read(name, errno);
  file = gzdopen(descriptor, "rb");
  if (file == nullptr) {
    ::close(descriptor);
    throw std::bad_alloc();
  }
  gzbuffer(file, static_cast<unsigned>(buffer.size()));
}

void LineReader::Source::fail() const {
  const int reason = errno;
  int code = Z_OK;
  const char* message = gzerror(file, &code);
  if (code == Z_ERRNO) {
    throw std::runtime_error(fmt::format("{} could not be read: {}", name, std::strerror(reason)));
  }
  if (code == Z_MEM_ERROR) throw std::bad_alloc();
  // zlib's message starts with a name of its own for the file.
  std::string_view what = message;
  if (const size_t colon = what.find(": "); colon != std::string_view::npos) what.remove_prefix(colon + 2);
  invalid(fmt::format("{} is a damaged gzip file ({}): fetch or make it again", name, what));
}

bool LineReader::Source::refill() {
  if (input) {
    rest = input->read();
    ended = rest.empty();
    return !ended;
  }
  const int bytes = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()));
  if (bytes < 0) fail();
  if (bytes == 0) {
    // A file that was cut off ends like a whole one; only its error tells.
    int code = Z_OK;
    gzerror(file, &code);
    if (code != Z_OK && code != Z_STREAM_END) fail();
    ended = true;
    return false;
  }
  rest = {buffer.data(), static_cast<size_t>(bytes)};
  return true;
}

LineReader::LineReader(std::string path) : source_(std::make_unique<Source>(std::move(path))) {}
LineReader::~LineReader() = default;
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;

bool LineReader::next(std::string& line) {
  Source& source = *source_;
  line = std::move(source.begun);
  source.begun.clear();
  if (line.empty() && source.rest.empty() && (source.ended || !source.refill())) return false;
  ++source.number;
  while (true) {
    const size_t end = source.rest.find('\n');
    line += source.rest.substr(0, end);
    if (end != std::string_view::npos) {
      source.rest.remove_prefix(end + 1);
      if (line.ends_with('\r')) line.pop_back();
      break;
    }
    source.rest = {};
    if (source.ended || !source.refill()) break;
  }
  if (source.number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  if (const size_t bad = first_invalid_byte(line); bad != std::string::npos) {
    invalid(fmt::format("{}:{}: byte {} of the line is not UTF-8; convert the file (iconv -t UTF-8)",
                        source.name, source.number, bad + 1));
  }
  return true;
}

bool LineReader::ready(int milliseconds) {
  Source& source = *source_;
  while (!source.ended && source.rest.find('\n') == std::string_view::npos) {
    if (source.input && !source.input->ready(milliseconds)) return false;
    source.begun += source.rest;
    source.rest = {};
    source.refill();
  }
  return true;
}

const std::string& LineReader::path() const {
  return source_->path;
}
int64_t LineReader::number() const {
  return source_->number;
}

std::string as_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace synthesizer
