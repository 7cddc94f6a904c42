#include "serve/options.h"

#include "base/error.h"
#include "base/range.h"

namespace synthesizer::serve {

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
  if (o.certificate.empty() != o.key.empty())
    invalid("--certificate and --key belong together: give both, or neither");
}

}  // namespace synthesizer::serve
