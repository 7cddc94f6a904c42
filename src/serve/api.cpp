#include "serve/api.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/output.h"
#include "serve/error.h"

namespace synthesizer::serve {
namespace {

/// Takes as long for any two texts of one length, wherever they differ.
bool equal_in_constant_time(const std::string& a, const std::string& b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (size_t n = 0; n < a.size(); ++n)
    difference |=
        static_cast<unsigned char>(a[n]) ^ static_cast<unsigned char>(b[b.empty() ? 0 : n % b.size()]);
  return difference == 0;
}

std::vector<std::string> read_tokens(const std::string& file) {
  std::vector<std::string> tokens;
  const std::string text = read_file(file);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string token = text.substr(begin, end - begin);
    while (!token.empty() && (token.back() == '\r' || token.back() == ' ')) token.pop_back();
    if (!token.empty()) tokens.push_back(token);
    begin = end + 1;
  }
  if (tokens.empty()) invalid(fmt::format("{} has no token: write one per line", file));
  for (const std::string& token : tokens) {  // cpp-httplib decodes headers as it decodes addresses
    if (token.find('%') != std::string::npos)
      invalid(fmt::format("{}: a token has a '%', which clients cannot send: choose another", file));
  }
  return tokens;
}

std::string bearer(const std::string& authorization) {
  constexpr std::string_view scheme = "bearer ";
  if (authorization.size() < scheme.size()) return "";
  for (size_t n = 0; n < scheme.size(); ++n) {
    if (std::tolower(static_cast<unsigned char>(authorization[n])) != scheme[n]) return "";
  }
  return authorization.substr(scheme.size());
}

}  // namespace

Api::Api(const ServeOptions& options, Models& models, Engine& engine, Metrics& metrics)
    : options_(options), models_(&models), engine_(&engine), metrics_(&metrics) {
  if (!options.token_file.empty()) tokens_ = read_tokens(options.token_file);
  routes_ = {{"/v1/translate", {"POST", &Api::translate, false}},
             {"/v1/generate", {"POST", &Api::generate, false}},
             {"/v1/classify", {"POST", &Api::classify, false}},
             {"/v1/score", {"POST", &Api::score, false}},
             {"/v1/attention", {"POST", &Api::attention, false}},
             {"/v1/completions", {"POST", &Api::completions, false}},
             {"/v1/models", {"GET", &Api::models, false}},
             {"/v1/models/reload", {"POST", &Api::reload, false}},
             {"/translate", {"POST", &Api::libre_translate, true}},  // takes the token in its body, too
             {"/languages", {"GET", &Api::libre_languages, true}},
             {"/health", {"GET", &Api::health, true}},
             {"/ready", {"GET", &Api::ready, true}},
             {"/metrics", {"GET", &Api::metrics, false}},
             {"/", {"GET", &Api::page, true}}};
}

bool Api::authorized(const std::string& token) const {
  if (tokens_.empty()) return true;
  bool found = false;
  for (const std::string& known : tokens_) found |= equal_in_constant_time(known, token);
  return found;
}

std::string Api::counted_path(const std::string& path) const {
  if (routes_.contains(path)) return path;
  return path.starts_with("/v1/models/") ? "/v1/models/{id}" : "other";
}

HttpAnswer Api::dispatch(const HttpRequest& request) {
  auto found = routes_.find(request.path);
  if (found == routes_.end() && request.path.starts_with("/v1/models/")) found = routes_.find("/v1/models");
  if (found == routes_.end()) {
    std::vector<std::string> known;
    for (const auto& [path, route] : routes_) known.push_back(path);
    const std::string shown = request.path.substr(0, 100);
    throw ApiError(404, fmt::format("there is nothing at {}{}", shown, did_you_mean(shown, known)));
  }
  const Route& route = found->second;
  if (request.method != route.method && !(request.method == "HEAD" && route.method == "GET")) {
    throw ApiError(405, fmt::format("{} takes {} requests, not {}", found->first, route.method,
                                    request.method.substr(0, 20)));
  }
  if (!route.open && !authorized(bearer(request.authorization)))
    throw ApiError(401, "this server asks for a token: send the header 'Authorization: Bearer TOKEN'");
  return (this->*route.handle)(request);
}

HttpAnswer Api::answer(const HttpRequest& request) {
  try {
    return dispatch(request);
  } catch (const Disconnected&) {
    throw;
  } catch (const ApiError& error) {
    return error_answer(error);
  } catch (const InvalidInput& mistake) {
    return error_answer({400, mistake.what()});
  } catch (const std::bad_alloc&) {
    return error_answer({503, "the server is out of memory: send less text, or later"});
  } catch (const std::exception& failure) {
    std::string reason = failure.what();
    reason = reason.substr(0, reason.find('\n'));
    write_error(fmt::format("synth: {} {}: {}\n", request.method, counted_path(request.path), reason));
    return error_answer({500, fmt::format("the model could not do this: {}", reason)});
  }
}

std::shared_ptr<PendingRequest> Api::make_pending(size_t jobs) const {
  const auto allowed =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.timeout));
  return std::make_shared<PendingRequest>(jobs, Clock::now() + allowed);
}

void Api::check_texts(const Texts& texts, const char* name) const {
  if (texts.texts.empty())
    throw ApiError(400, fmt::format("'{}' is an empty list: give at least one text", name), name);
  if (static_cast<int64_t>(texts.texts.size()) > options_.lines) {
    throw ApiError(
        413,
        fmt::format("'{}' has {} texts, and the server takes {} per request (--lines): send several "
                    "requests",
                    name, texts.texts.size(), options_.lines),
        name);
  }
}

void Api::call(const std::shared_ptr<ServedModel>& model, const Connected& connected,
               std::function<void()> work) {
  auto job = std::make_shared<CallJob>(make_pending(1));
  job->call = std::move(work);
  engine_->submit(model, {job});
  job->pending->wait(connected);
}

}  // namespace synthesizer::serve
