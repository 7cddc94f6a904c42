#pragma once

#include <map>
#include <string>
#include <vector>

#include "serve/engine.h"
#include "serve/fields.h"
#include "serve/json_answer.h"
#include "serve/models.h"
#include "serve/options.h"
#include "serve/text_names.h"

namespace synthesizer::serve {

/// The requests that a server answers (docs/serving.md): reads and checks them, gives the engine its jobs,
/// waits, and writes the answers. Knows nothing of sockets. Thread-safe: every request has a thread of its
/// own.
///
/// The functions are grouped by file: api.cpp (paths, tokens, errors), api_text.cpp (translate, generate,
/// classify), api_inspect.cpp (score, attention), api_server.cpp (models, health, metrics, page), openai.cpp,
/// libretranslate.cpp.
class Api {
 public:
  Api(const ServeOptions& options, Models& models, Engine& engine, Metrics& metrics);

  /// Never throws but Disconnected.
  HttpAnswer answer(const HttpRequest& request);
  /// Known paths are counted by name, all others as one.
  std::string counted_path(const std::string& path) const;

  /// From now on /ready says no.
  void drain() { draining_ = true; }

 private:
  using Method = HttpAnswer (Api::*)(const HttpRequest&);
  /// Who may ask: anyone, who has a token, or who has one in the header or the field api_key.
  enum class Access { open, token, token_or_key };
  struct Route {
    std::string method;
    Method handle;
    Access access;
  };

  HttpAnswer translate(const HttpRequest& request);
  HttpAnswer generate(const HttpRequest& request);
  HttpAnswer classify(const HttpRequest& request);
  HttpAnswer score(const HttpRequest& request);
  HttpAnswer attention(const HttpRequest& request);
  HttpAnswer models(const HttpRequest& request);
  HttpAnswer reload(const HttpRequest& request);
  HttpAnswer health(const HttpRequest& request);
  HttpAnswer ready(const HttpRequest& request);
  HttpAnswer metrics(const HttpRequest& request);
  HttpAnswer page(const HttpRequest& request);
  HttpAnswer completions(const HttpRequest& request);
  HttpAnswer libre_translate(const HttpRequest& request);
  HttpAnswer libre_languages(const HttpRequest& request);

  HttpAnswer dispatch(const HttpRequest& request);
  bool known_token(const std::string& token) const;
  /// Throws ApiError 401, before the body is checked.
  void authorize(const HttpRequest& request, Access access) const;
  /// The field api_key of a LibreTranslate request; empty where the body cannot be read.
  static std::string libre_key(const HttpRequest& request);
  std::shared_ptr<PendingRequest> make_pending(size_t jobs) const;
  /// Checks number and size of the texts of a request.
  void check_texts(const Texts& texts, const char* name) const;
  /// A prompt as a model reads it. Throws ApiError 413 where it is too long; `name`: what a message calls it.
  std::vector<int64_t> prompt_row(const ServedModel& model, const std::string& prompt,
                                  const std::string& name) const;
  /// What lines may be: the field of the request that they come from, what messages call them, what a message
  /// advises beside shortening a line, and whether lines that are too long are cut.
  struct LineRules {
    const char* field;
    TextNames names;
    const char* advice;
    bool truncate;
  };
  /// Translates lines and waits: the n best of each, in order.
  std::vector<std::vector<Translation>> translated(const std::shared_ptr<ServedModel>& model,
                                                   const std::vector<std::string>& lines,
                                                   const DecodeOptions& options, const LineRules& rules,
                                                   const Connected& connected);
  /// A job for each line that has tokens, none for the others.
  std::vector<std::shared_ptr<TranslateJob>> translate_jobs(
      const ServedModel& model, const std::vector<std::string>& lines, const DecodeOptions& options,
      const LineRules& rules, const std::shared_ptr<PendingRequest>& pending) const;
  /// Does something with a model on the engine's thread, and waits. Where the client goes away meanwhile, the
  /// work may still be under way: it refers to nothing that ends with the request.
  void call(const std::shared_ptr<ServedModel>& model, const Connected& connected,
            std::function<void()> work);

  ServeOptions options_;
  Models* models_;
  Engine* engine_;
  Metrics* metrics_;
  std::map<std::string, Route> routes_;
  std::vector<std::string> tokens_;
  std::atomic<bool> draining_ = false;
};

}  // namespace synthesizer::serve
