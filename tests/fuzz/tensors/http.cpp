// Requests as `synth serve` answers them, with a language model, a translation model and a classifier behind
// it. They are made from a few lines of text at the first call and know next to nothing.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "fuzz/targets.h"
#include "serve/api.h"
#include "task/recipe.h"
#include "task/training.h"

namespace synthesizer::fuzz {
namespace {

namespace fs = std::filesystem;
using namespace serve;

struct SmallServer {
  SmallServer()
      : metrics(),
        models(list_runs(make_runs().runs).runs, options, metrics),
        engine(1, 32, metrics),
        api(options, models, engine, metrics) {}
  ~SmallServer() {
    engine.stop();
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }

  /// Three runs of one step.
  const ServeOptions& make_runs() {
    std::string name = (fs::temp_directory_path() / "fuzz_http_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder = name;
    write_file(folder + "/a.en", "a cat sat\nthe dog ran\nthe cat ran\na dog sat\n");
    write_file(folder + "/a.de", "eine katze\nder hund\ndie katze\nein hund\n");
    write_file(folder + "/a.tsv", "cat\tthe cat\ndog\tthe dog\ncat\ta cat\ndog\ta dog\n");
    train("lm", "task = \"language-model\"\n", "\"a.en\"");
    train("mt", "task = \"translation\"\n", "\"a.en\", \"a.de\"");
    train("cls", "task = \"classification\"\n", "\"a.tsv\"");
    options.tokens = 16;
    options.lines = 4;
    options.timeout = 5;
    return options;
  }

  void train(const std::string& name, const std::string& task, const std::string& files) {
    const std::string recipe = folder + "/" + name + ".toml";
    write_file(recipe,
               task + "[data]\ntrain = [" + files +
                   "]\ntokenizer = \"characters\"\nvocabulary = 0\ncache = \"" + folder +
                   "/cache\"\n[model]\nattention = \"V\"\nwidth = 4\nheads = 2\nlayers = 1\n" +
                   "feed_forward = 4\nmax_length = 16\n[train]\nsteps = 1\nbatch_tokens = 32\nthreads = 1\n" +
                   "save_every = 1\n[decode]\nmax_length = 4\n");
    TrainingOptions training;
    training.folder = folder + "/" + name;
    training.say = [](const std::string&) {};
    train_run(load_recipe(recipe), training);
    options.runs.push_back(training.folder);
  }

  std::string folder;
  ServeOptions options;
  Metrics metrics;
  Models models;
  Engine engine;
  Api api;
};

/// The text up to the next line break, which is taken off too.
std::string take_line(std::string_view& text) {
  const auto line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return std::string(line);
}

/// What a client may rely on: a status of its own or the server's making, and a body in JSON with a message.
void check_answer(const HttpAnswer& answer) {
  if (answer.status == 500) fault("the server calls it its own fault: " + answer.body);
  if (answer.status < 200 || answer.status > 503) fault("a status that means nothing");
  if (answer.status == 200) return;
  const auto body = nlohmann::json::parse(answer.body);
  if (!body.at("error").at("message").is_string()) fault("an error without a message");
}

}  // namespace

/// Lines: method, path, content type, authorization; then the body.
void run_http(std::string_view input) {
  static SmallServer server;
  HttpRequest request;
  request.method = take_line(input);
  request.path = take_line(input);
  request.content_type = take_line(input);
  request.authorization = take_line(input);
  request.body = std::string(input);
  request.connected = [] { return true; };
  if (request.path == "/v1/models/reload") return;  // reads files, which have targets of their own
  const HttpAnswer answer = server.api.answer(request);
  check_answer(answer);
  server.api.counted_path(request.path);
  if (answer.stream) answer.stream([](const std::string&) { return true; });
}

}  // namespace synthesizer::fuzz
