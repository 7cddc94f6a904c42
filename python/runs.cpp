#include "runs.h"

#include <pybind11/stl.h>

#include "base/error.h"
#include "metric/registry.h"
#include "task/run.h"

namespace py = pybind11;
using namespace synthesizer;

namespace {

DecodeOptions decode_options(const OpenRun& run, const std::map<std::string, double>& given) {
  DecodeOptions o = run.task->recipe().decode;
  auto whole = [](double value) { return static_cast<int64_t>(value); };
  for (const auto& [name, value] : given) {
    if (name == "beam") o.beam = whole(value);
    if (name == "nbest") o.nbest = whole(value);
    if (name == "length_penalty") o.length_penalty = value;
    if (name == "max_length") o.max_length = whole(value);
    if (name == "no_repeat_ngram") o.no_repeat_ngram = whole(value);
    if (name == "temperature") o.temperature = value;
    if (name == "top_k") o.top_k = whole(value);
    if (name == "top_p") o.top_p = value;
    if (name == "seed") o.seed = static_cast<uint64_t>(value);
  }
  check(o);
  return o;
}

using TextAndScore = std::pair<std::string, double>;

std::vector<std::vector<TextAndScore>> translate(OpenRun& run, const std::vector<std::string>& lines,
                                                 const std::map<std::string, double>& options,
                                                 int64_t batch_tokens, bool truncate) {
  auto* translator = dynamic_cast<Translator*>(run.task.get());
  if (!translator)
    invalid("this run is a " + run.task->recipe().task + ": it does not turn one text into another");
  const DecodeOptions decode = decode_options(run, options);
  py::gil_scoped_release free;
  std::vector<std::string> remarks;
  std::vector<std::vector<TextAndScore>> all;
  for (const auto& best : translator->translate(
           lines, decode, batch_tokens, truncate ? LongLine::truncate : LongLine::error, 1, remarks)) {
    auto& row = all.emplace_back();
    for (const Translation& t : best) row.emplace_back(t.text, t.score);
  }
  return all;
}

std::string generate(OpenRun& run, const std::string& prompt, int64_t tokens,
                     const std::map<std::string, double>& options) {
  auto* generator = dynamic_cast<Generator*>(run.task.get());
  if (!generator) invalid("this run is a " + run.task->recipe().task + ": it does not go on from a text");
  const DecodeOptions decode = decode_options(run, options);
  py::gil_scoped_release free;
  return generator->generate(prompt, tokens, decode, {});
}

using LabelAndShares = std::pair<std::string, std::map<std::string, double>>;

std::vector<LabelAndShares> classify(OpenRun& run, const std::vector<std::string>& lines,
                                     int64_t batch_tokens, bool truncate) {
  auto* labeller = dynamic_cast<Labeller*>(run.task.get());
  if (!labeller) invalid("this run is a " + run.task->recipe().task + ": it has no classes");
  py::gil_scoped_release free;
  std::vector<std::string> remarks;
  std::vector<LabelAndShares> all;
  for (const Classified& found :
       labeller->classify(lines, batch_tokens, truncate ? LongLine::truncate : LongLine::error, 1, remarks)) {
    auto& [label, shares] = all.emplace_back();
    label = found.label;
    for (size_t i = 0; i < found.probabilities.size(); ++i)
      shares[labeller->labels()[i]] = found.probabilities[i];
  }
  return all;
}

Scores evaluate(OpenRun& run, const std::vector<std::string>& data) {
  py::gil_scoped_release free;
  const auto split = run.task->open(split_files(run.task->recipe(), data), false);
  return run.task->evaluate(*split, true, run.task->recipe().decode).scores;
}

py::dict measure(const std::string& name, const Segments& hypotheses, const References& references,
                 const MetricOptions& options) {
  py::dict values;
  for (const auto& [key, value] : score(find_metric(name), hypotheses, references, options).values)
    values[py::str(key)] = std::visit([](const auto& v) { return py::cast(v); }, value);
  return values;
}

}  // namespace

void add_runs(py::module_& module) {
  py::class_<OpenRun>(module, "Run")
      .def(py::init(
          [](const std::string& path, const std::string& weights) { return open_run(path, weights); }))
      .def_property_readonly("task", [](const OpenRun& run) { return run.task->recipe().task; })
      .def_property_readonly("config", [](const OpenRun& run) { return to_toml(run.task->recipe()); })
      .def("translate", &translate)
      .def("generate", &generate)
      .def("classify", &classify)
      .def("evaluate", &evaluate)
      .def("log_probabilities", [](OpenRun& run, const std::vector<std::vector<std::string>>& examples) {
        py::gil_scoped_release free;
        return run.task->log_probabilities(examples);
      });
  module.def("measure", &measure);
}
