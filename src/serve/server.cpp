#include "serve/server.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <thread>

#include "base/output.h"
#include "serve/api.h"
#include "serve/run_list.h"
#include "serve/server_socket.h"
#include "serve/signals.h"
#include "serve/transport.h"

namespace synthesizer::serve {
namespace {

/// Connections are files: as many as the system lets us have.
void allow_many_files() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void say(const std::string& line) {
  write_error(line + "\n");
}

/// Counts and, where asked to, logs an answer; contents are never logged.
void note(const Api& api, Metrics& metrics, bool log, const AnsweredRequest& request) {
  const std::string path = api.counted_path(request.path);
  metrics.request(path, request.status, request.seconds);
  if (!log) return;
  const std::string method = request.method.empty() ? "-" : request.method;
  say(fmt::format("{} {} {} {:.1f} ms", method, path, request.status, request.seconds * 1e3));
}

void reload(Models& models) {
  for (const auto& one : models.reload()) {
    if (one.error.empty()) {
      say(fmt::format("synth: {} reloaded", one.model));
    } else {
      say(fmt::format("synth: {} not reloaded, the earlier one stays: {}", one.model, one.error));
    }
  }
}

}  // namespace

void serve(const ServeOptions& options) {
  Signals signals;  // before models are loaded, which may take a while
  check(options);
  allow_many_files();
  ServerSocket socket(options.host, options.port);
  Metrics metrics;
  const RunList list = list_runs(options.runs);
  for (const std::string& path : list.left_out) say(fmt::format("synth: {} holds no run: left out", path));
  Models models(list.runs, options, metrics);
  Engine engine(options.engines, options.queue, metrics);
  Api api(options, models, engine, metrics);
  Transport transport(
      options, [&](const HttpRequest& request) { return api.answer(request); },
      [&](const AnsweredRequest& request) { note(api, metrics, options.log, request); }, metrics);
  transport.listen(socket);
  signals.start_events();
  std::thread listener([&] { transport.run(); });
  const char* scheme = options.certificate.empty() ? "http" : "https";
  const std::string host =
      options.host.find(':') == std::string::npos ? options.host : "[" + options.host + "]";
  say(fmt::format("listening on {}://{}:{}", scheme, host, socket.port()));
  while (signals.next() == Signals::Kind::reload) reload(models);
  api.drain();
  transport.stop();
  listener.join();
  const auto allowed =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.drain));
  if (!transport.drain(Clock::now() + allowed)) {
    engine.stop();  // what is left is told so
    transport.drain(Clock::now() + std::chrono::seconds(2));
  }
}

}  // namespace synthesizer::serve
