// synth serve: trained runs over HTTP.

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/decode_options.h"
#include "serve/server.h"

namespace synthesizer::cli {

void add_serve(CLI::App& program) {
  auto* command = program.add_subcommand("serve", "runs over HTTP: an API, and a page to try them");
  auto o = std::make_shared<serve::ServeOptions>();
  command
      ->add_option("RUN", o->runs,
                   "run folders, or folders of runs; a model's name is the last part of its path")
      ->required();
  command->add_option("--host", o->host, "address to listen on")->capture_default_str();
  command->add_option("--port", o->port, "0: any free one")->capture_default_str();
  add_weights_option(*command, o->weights);
  command->add_option("--token-file", o->token_file, "requests need one of the tokens in it, one per line");
  command->add_option("--certificate", o->certificate, "PEM file, with --key: serve HTTPS");
  command->add_option("--key", o->key, "PEM file of the certificate's key");
  command->add_option("--cors", o->cors, "origin whose pages may use the server, or '*' (default: none)");
  command->add_option("--queue", o->queue, "while so many texts wait, requests are refused with status 429")
      ->capture_default_str();
  command->add_option("--batch", o->batch, "texts decoded together, per model")->capture_default_str();
  command->add_option("--engines", o->engines, "inference threads, each with --threads cores")
      ->capture_default_str();
  command->add_option("--timeout", o->timeout, "seconds per request")->capture_default_str();
  command->add_option("--drain", o->drain, "seconds that requests have to finish after SIGTERM")
      ->capture_default_str();
  command->add_option("--read-timeout", o->read_timeout, "seconds for a request to arrive, and to be read")
      ->capture_default_str();
  command->add_option("--idle-timeout", o->idle_timeout, "seconds a connection stays open without a request")
      ->capture_default_str();
  command->add_option("--body", o->body, "bytes per request")->capture_default_str();
  command->add_option("--lines", o->lines, "texts per request")->capture_default_str();
  command->add_option("--tokens", o->tokens, "of a prompt, and of what is generated")->capture_default_str();
  command->add_option("--connections", o->connections, "open at the same time")->capture_default_str();
  command->add_flag("--log", o->log, "a line per request on standard error, without its contents");
  command->callback([o] { serve::serve(*o); });
}

}  // namespace synthesizer::cli
