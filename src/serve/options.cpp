#include "serve/options.h"

#include <fmt/format.h>

#include <regex>

#include "base/error.h"
#include "base/range.h"

namespace synthesizer::serve {

namespace {

/// As browsers send it, which nothing else equals: lower case, no path, no port that the scheme implies.
bool is_origin(const std::string& text) {
  static const std::regex origin(R"([a-z][a-z0-9+.-]*://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?)");
  const bool implied = (text.starts_with("http://") && text.ends_with(":80")) ||
                       (text.starts_with("https://") && text.ends_with(":443"));
  return std::regex_match(text, origin) && !implied;
}

}  // namespace

void check(const ServeOptions& o) {
  if (o.runs.empty()) invalid("no run to serve: name at least one run folder");
  check_between("--port", o.port, 0, 65535);
  check_between("--queue", o.queue, 1, 1'000'000);
  check_between("--batch", o.batch, 1, 1024);
  check_between("--engines", o.engines, 1, 64);
  check_between("--body", o.body, 1, int64_t{1} << 30);
  check_between("--lines", o.lines, 1, 100'000);
  check_between("--tokens", o.tokens, 1, 1'000'000);
  check_between("--connections", o.connections, 1, 100'000);
  check_positive("--timeout", o.timeout);
  check_not_negative("--drain", o.drain);
  check_positive("--read-timeout", o.read_timeout);
  check_positive("--idle-timeout", o.idle_timeout);
  if (!o.cors.empty() && o.cors != "*" && !is_origin(o.cors)) {
    invalid(
        fmt::format("--cors is '{}': give the origin as browsers send it, SCHEME://HOST or "
                    "SCHEME://HOST:PORT in lower case and without a path, or '*'",
                    o.cors));
  }
  if (o.certificate.empty() != o.key.empty())
    invalid("--certificate and --key belong together: give both, or neither");
}

}  // namespace synthesizer::serve
