#pragma once

#include "serve/options.h"

namespace synthesizer::serve {

/// Serves runs over HTTP until SIGTERM or SIGINT; see docs/serving.md.
///
///     transport    sockets, HTTP, limits, TLS, CORS (transport.h, connection_pool.h, connection.h)
///     api          paths, tokens, JSON in and out (api.h, fields.h)
///     models       runs by name, replaced while they are used (models.h)
///     engine       bounded queue, inference threads (engine.h)
///     batchers     the work of one model: continuous batching, batching by length (batcher.h)
///     metrics      what is counted (metrics.h)
///
/// Prints `listening on http://HOST:PORT` on standard error once requests are answered. SIGHUP loads all runs
/// again. SIGTERM and SIGINT: no new connections; what has begun is finished within options.drain seconds; a
/// second one ends at once (signals.h). Throws InvalidInput and std::runtime_error where it cannot start.
void serve(const ServeOptions& options);

}  // namespace synthesizer::serve
