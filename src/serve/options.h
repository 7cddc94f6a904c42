#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace synthesizer::serve {

/// How a server listens and what it accepts: one field per option of `synth serve`.
struct ServeOptions {
  std::vector<std::string> runs;  ///< run folders, and folders of runs (list_runs)
  std::string weights = "best";

  std::string host = "127.0.0.1";
  int64_t port = 8080;      ///< 0: any free one
  std::string token_file;   ///< one bearer token per line; empty: no token is asked for
  std::string certificate;  ///< with `key`: TLS
  std::string key;
  std::string cors;  ///< the origin that pages of other servers may call from, or "*"; empty: none

  int64_t queue = 32;          ///< while so many texts wait for the engine, requests are refused
  int64_t batch = 32;          ///< texts that are decoded together, per model
  int64_t engines = 1;         ///< inference threads; each computes with --threads cores
  double timeout = 60;         ///< seconds per request, from its arrival to its result
  double drain = 30;           ///< seconds that requests under way have after SIGTERM
  double read_timeout = 10;    ///< seconds for a request to arrive completely, and for a client to read
  double idle_timeout = 60;    ///< seconds that a connection may stay open without a request
  int64_t body = 1 << 20;      ///< bytes of a request's body, after decompression
  int64_t lines = 64;          ///< texts per request
  int64_t tokens = 2048;       ///< of a prompt, and of what is generated, per text
  int64_t connections = 1024;  ///< open at the same time
  bool log = false;            ///< one line per request on standard error, without its contents
};

/// Throws InvalidInput where a value is out of its range.
void check(const ServeOptions& options);

}  // namespace synthesizer::serve
