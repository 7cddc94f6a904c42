// synth serve: serves trained runs over HTTP.

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/decode_options.h"
#include "serve/server.h"

namespace synthesizer::cli {

void add_serve(CLI::App& program) {
  auto* command = program.add_subcommand("serve", "serve runs over HTTP, with an API and a web page");
  auto o = std::make_shared<serve::ServeOptions>();
  command
      ->add_option("RUN", o->runs,
                   "run folders, or folders of runs; a model's name is the last part of its path")
      ->required();
  command->add_option("--host", o->host, "address to listen on")->capture_default_str();
  command->add_option("--port", o->port, "port to listen on; 0: any free port")->capture_default_str();
  add_weights_option(*command, o->weights);
  command->add_option("--token-file", o->token_file,
                      "file of access tokens, one per line; requests need one of them");
  command->add_option("--certificate", o->certificate,
                      "PEM file of the certificate, with --key: serve HTTPS");
  command->add_option("--key", o->key, "PEM file of the certificate's private key");
  command->add_option("--cors", o->cors, "origin whose pages may use the server, or '*' (default: none)");
  command->add_option("--queue", o->queue, "refuse requests with status 429 while this many texts wait")
      ->capture_default_str();
  command->add_option("--batch", o->batch, "maximum number of texts decoded together, per model")
      ->capture_default_str();
  command->add_option("--engines", o->engines, "number of inference threads, each with --threads cores")
      ->capture_default_str();
  command->add_option("--timeout", o->timeout, "time limit per request, in seconds")->capture_default_str();
  command->add_option("--drain", o->drain, "time that requests have to finish after SIGTERM, in seconds")
      ->capture_default_str();
  command
      ->add_option("--read-timeout", o->read_timeout,
                   "time limit for sending a request and for reading its answer, in seconds")
      ->capture_default_str();
  command
      ->add_option("--idle-timeout", o->idle_timeout,
                   "time that a connection stays open without a request, in seconds")
      ->capture_default_str();
  command->add_option("--body", o->body, "maximum size of a request, in bytes")->capture_default_str();
  command->add_option("--lines", o->lines, "maximum number of texts per request")->capture_default_str();
  command->add_option("--tokens", o->tokens, "maximum number of tokens of a prompt, and of a generated text")
      ->capture_default_str();
  command->add_option("--connections", o->connections, "maximum number of open connections")
      ->capture_default_str();
  command->add_flag("--log", o->log, "log one line per request on standard error, without its contents");
  command->callback([o] { serve::serve(*o); });
}

}  // namespace synthesizer::cli
