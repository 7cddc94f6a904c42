#include "runs.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/nearest.h"
#include "metric/registry.h"
#include "runtime/interrupt.h"
#include "task/run.h"
#include "task/unknown_tokens.h"

namespace py = pybind11;
using namespace synthesizer;

namespace {

[[noreturn]] void wrong_type(const std::string& name, py::handle value, const char* wanted) {
  PyErr_Clear();
  throw py::type_error(name + " is " + py::repr(value).cast<std::string>() + ": it must be " + wanted);
}

/// An integer of Python's, exactly; those of NumPy are integers too, a float never is.
int64_t integer(const std::string& name, py::handle value,
                int64_t least = std::numeric_limits<int64_t>::min()) {
  const auto exact = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!exact) wrong_type(name, value, "an integer");
  int overflow = 0;
  const int64_t result = PyLong_AsLongLongAndOverflow(exact.ptr(), &overflow);
  if (overflow != 0 || result < least) {
    invalid(name + " is " + py::str(exact).cast<std::string>() + ": it must be from " +
            std::to_string(least) + " to " + std::to_string(std::numeric_limits<int64_t>::max()));
  }
  return result;
}

double number(const std::string& name, py::handle value) {
  const double result = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred()) wrong_type(name, value, "a number");
  return result;
}

/// Sets a decode option to a value of Python's, by its kind.
struct OptionSetter {
  DecodeOptions& options;
  const std::string& name;
  const py::object& value;

  void operator()(bool DecodeOptions::*member) const {
    if (!PyBool_Check(value.ptr())) wrong_type(name, value, "True or False");
    options.*member = value.cast<bool>();
  }
  void operator()(int64_t DecodeOptions::*member) const { options.*member = integer(name, value); }
  void operator()(uint64_t DecodeOptions::*member) const {
    options.*member = static_cast<uint64_t>(integer(name, value, 0));
  }
  void operator()(double DecodeOptions::*member) const { options.*member = number(name, value); }
  template <NamedEnum E>
  void operator()(E DecodeOptions::*member) const {
    if (!PyUnicode_Check(value.ptr())) wrong_type(name, value, "a string");
    options.*member = choose<E>(name, value.cast<std::string>());
  }
};

using GivenOptions = std::map<std::string, py::object>;

/// The options of the run's recipe, with those given in their place.
DecodeOptions decode_options(const OpenRun& run, const GivenOptions& given) {
  DecodeOptions o = run.task->recipe().decode;
  std::vector<std::string> known;
  for (const DecodeOption& option : decode_option_list()) {
    known.push_back(option.name);
    const auto found = given.find(option.name);
    if (found != given.end()) std::visit(OptionSetter{o, option.name, found->second}, option.member);
  }
  for (const auto& [name, value] : given) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      invalid("there is no decode option '" + name + "'" + did_you_mean(name, known));
  }
  check(o);
  return o;
}

using TextAndScore = std::pair<std::string, double>;

std::vector<std::vector<TextAndScore>> translate(OpenRun& run, const std::vector<std::string>& lines,
                                                 const GivenOptions& options, py::handle batch_tokens,
                                                 bool truncate) {
  auto* translator = dynamic_cast<Translator*>(run.task.get());
  if (!translator)
    invalid("this run is a " + run.task->recipe().task + ": it does not turn one text into another");
  const DecodeOptions decode = decode_options(run, options);
  const int64_t at_once = integer("batch_tokens", batch_tokens);
  py::gil_scoped_release free;
  std::vector<std::string> remarks;
  std::vector<std::vector<TextAndScore>> all;
  for (const auto& best : translator->translate(
           lines, decode, at_once, truncate ? LongLine::truncate : LongLine::error, 1, remarks)) {
    auto& row = all.emplace_back();
    for (const Translation& t : best) row.emplace_back(t.text, t.score);
  }
  return all;
}

std::string generate(OpenRun& run, const std::string& prompt, py::handle tokens,
                     const GivenOptions& options) {
  auto* generator = dynamic_cast<Generator*>(run.task.get());
  if (!generator) invalid("this run is a " + run.task->recipe().task + ": it does not continue a text");
  const DecodeOptions decode = decode_options(run, options);
  const int64_t count = integer("tokens", tokens, 0);
  py::gil_scoped_release free;
  return generator->generate(prompt, count, decode, {});
}

using LabelAndShares = std::pair<std::string, std::map<std::string, double>>;

std::vector<LabelAndShares> classify(OpenRun& run, const std::vector<std::string>& lines,
                                     py::handle batch_tokens, bool truncate) {
  auto* classifier = dynamic_cast<TextClassifier*>(run.task.get());
  if (!classifier) invalid("this run is a " + run.task->recipe().task + ": it has no classes");
  const int64_t at_once = integer("batch_tokens", batch_tokens);
  py::gil_scoped_release free;
  std::vector<std::string> remarks;
  std::vector<LabelAndShares> all;
  for (const ClassificationResult& found :
       classifier->classify(lines, at_once, truncate ? LongLine::truncate : LongLine::error, 1, remarks)) {
    auto& [label, shares] = all.emplace_back();
    label = found.label;
    for (size_t i = 0; i < found.probabilities.size(); ++i)
      shares[classifier->labels()[i]] = found.probabilities[i];
  }
  return all;
}

Scores evaluate(OpenRun& run, const std::vector<std::string>& data) {
  py::gil_scoped_release free;
  const auto split = run.task->open(split_files(run.task->recipe(), data), false);
  Scores scores = run.task->evaluate(*split, true, run.task->recipe().decode).scores;
  scores.emplace_back("unknown_percent", unknown_tokens(*split).percent());
  return scores;
}

py::dict measure(const std::string& name, const Segments& hypotheses, const References& references,
                 const MetricOptions& options) {
  py::dict values;
  for (const auto& [key, value] : score(find_metric(name), hypotheses, references, options).values)
    values[py::str(key)] = std::visit([](const auto& v) { return py::cast(v); }, value);
  return values;
}

/// Ctrl-C: Python notes the signal and waits for the interpreter to come by, which it does not while C++
/// works.
void raise_pending_signals() {
  py::gil_scoped_acquire interpreter;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

}  // namespace

void add_runs(py::module_& module) {
  set_interrupt_check(raise_pending_signals);
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
  module.def("decode_option_names", [](bool sampling) {
    std::vector<std::string> names;
    for (const DecodeOption& option : decode_option_list()) {
      if ((option.use == DecodeOption::Use::sampling) == sampling) names.push_back(option.name);
    }
    return names;
  });
  module.def("did_you_mean", &did_you_mean);
}
