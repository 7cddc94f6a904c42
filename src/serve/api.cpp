#include "serve/api.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// What the client of a request is told of a failure. What is the server's own is said on standard error,
/// too.
ApiError error_of(const std::exception& failure, const std::string& request) {
  if (const auto* error = dynamic_cast<const ApiError*>(&failure)) return *error;
  if (dynamic_cast<const InvalidInput*>(&failure)) return {400, failure.what()};
  if (dynamic_cast<const std::bad_alloc*>(&failure))
    return {503, "the server is out of memory: send less text, or later"};
  std::string reason = failure.what();
  reason = reason.substr(0, reason.find('\n'));
  write_error(fmt::format("synth: {}: {}\n", request, reason));
  return {500, fmt::format("the model could not do this: {}", reason)};
}

/// The same stream, which ends with an event where it fails.
HttpAnswer::Stream with_error_event(HttpAnswer::Stream stream, const std::string& request) {
  return [stream = std::move(stream), request](const HttpAnswer::Send& send) {
    try {
      return stream(send);
    } catch (const Disconnected&) {
      return kClientGone;
    } catch (const std::exception& failure) {
      const ApiError error = error_of(failure, request);
      send(error_event(error));
      return error.status;
    }
  };
}

}  // namespace

Api::Api(const ServeOptions& options, Models& models, Engine& engine, Metrics& metrics)
    : options_(options), models_(&models), engine_(&engine), metrics_(&metrics) {
  if (!options.token_file.empty()) tokens_ = read_tokens(options.token_file);
  using enum Access;
  routes_ = {{"/v1/translate", {"POST", &Api::translate, token}},
             {"/v1/generate", {"POST", &Api::generate, token}},
             {"/v1/classify", {"POST", &Api::classify, token}},
             {"/v1/score", {"POST", &Api::score, token}},
             {"/v1/attention", {"POST", &Api::attention, token}},
             {"/v1/completions", {"POST", &Api::completions, token}},
             {"/v1/models", {"GET", &Api::models, token}},
             {"/v1/models/reload", {"POST", &Api::reload, token}},
             {"/translate", {"POST", &Api::libre_translate, token_or_key}},
             {"/languages", {"GET", &Api::libre_languages, open}},
             {"/health", {"GET", &Api::health, open}},
             {"/ready", {"GET", &Api::ready, open}},
             {"/metrics", {"GET", &Api::metrics, token}},
             {"/", {"GET", &Api::page, open}}};
}

void Api::authorize(const HttpRequest& request, Access access) const {
  if (access == Access::open || tokens_.empty() || known_token(bearer(request.authorization))) return;
  if (access == Access::token)
    throw ApiError(401, "this server asks for a token: send the header 'Authorization: Bearer TOKEN'");
  if (!known_token(libre_key(request)))
    throw ApiError(401, "this server asks for a token: send it as 'api_key'", "api_key");
}

bool Api::known_token(const std::string& token) const {
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
    std::string advice = did_you_mean(shown, known);
    if (advice.empty()) advice = fmt::format(": the paths are {}", fmt::join(known, ", "));
    throw ApiError(404, fmt::format("there is nothing at {}{}", shown, advice));
  }
  const Route& route = found->second;
  if (request.method != route.method && !(request.method == "HEAD" && route.method == "GET")) {
    throw ApiError(405, fmt::format("{} takes {} requests, not {}", found->first, route.method,
                                    request.method.substr(0, 20)));
  }
  authorize(request, route.access);
  return (this->*route.handle)(request);
}

HttpAnswer Api::answer(const HttpRequest& request) {
  const std::string name = request.method + " " + counted_path(request.path);
  try {
    HttpAnswer answer = dispatch(request);
    if (answer.stream) answer.stream = with_error_event(std::move(answer.stream), name);
    return answer;
  } catch (const Disconnected&) {
    throw;
  } catch (const std::exception& failure) {
    return error_answer(error_of(failure, name));
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
