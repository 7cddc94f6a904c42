// Layers and the registries for Python. Operators (torch.ops.synthesizer.attention_layer, what a layer does;
// .attend and .convolve, the kernels) are registered by the same library; tensors are owned by Python's
// module and passed with every call.

#include <c10/core/GradMode.h>
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include "attention/baselines.h"
#include "attention/kernel/tile.h"
#include "attention/layer_operator.h"
#include "attention/mixer.h"
#include "attention/registry.h"
#include "attention/spec.h"
#include "runs.h"
#include "runtime/core_sharing.h"
#include "runtime/memory.h"
#include "runtime/processor.h"

namespace py = pybind11;
using namespace synthesizer;

namespace {

using MaybeTensor = std::optional<at::Tensor>;

using OptionDict = std::map<std::string, OptionValue>;

std::unique_ptr<Mixer> made(const std::string& attention, int64_t width, int64_t heads, int64_t max_length,
                            bool causal, double dropout, bool bias, const OptionDict& options) {
  AttentionOptions all{attention, width, heads, max_length, causal, dropout, bias, {}};
  for (const auto& [name, value] : options) all.options.set(name, value);
  return make_mixer(std::move(all));
}

/// Everything a mixer is made from, in the order of its constructor: it holds no tensors, so a copy or a
/// pickle is this.
py::tuple state_of(const Mixer& mixer) {
  const AttentionOptions& o = mixer.options();
  return py::make_tuple(o.attention, o.width, o.heads, o.max_length, o.causal, o.dropout, o.bias,
                        o.options.values());
}

std::unique_ptr<Mixer> from_state(const py::tuple& s) {
  if (s.size() != 8) throw py::value_error("this is not the state of a Mixer");
  return made(s[0].cast<std::string>(), s[1].cast<int64_t>(), s[2].cast<int64_t>(), s[3].cast<int64_t>(),
              s[4].cast<bool>(), s[5].cast<double>(), s[6].cast<bool>(), s[7].cast<OptionDict>());
}

template <auto Member>
auto option(const Mixer& mixer) {
  return mixer.options().*Member;
}

py::list list_variants() {
  py::list all;
  for (const Variant& v : variants()) {
    py::dict line;
    line["name"] = v.name;
    line["short"] = v.abbreviation;
    line["tokens"] = v.tokens_name();
    line["sample"] = v.sample_name();
    line["interacts"] = v.interacts;
    line["parameters"] = v.parameters;
    all.append(line);
  }
  return all;
}

py::list list_baselines() {
  py::list all;
  for (const Baseline& r : baselines()) {
    py::dict line;
    line["name"] = r.name;
    line["help"] = r.help;
    line["causal"] = r.causal;
    line["parameters"] = r.parameters;
    py::list options;
    for (const OptionInfo& option : r.options) options.append(option.name);
    line["options"] = options;
    all.append(line);
  }
  return all;
}

}  // namespace

PYBIND11_MODULE(_C, m) {
  avoid_amx_trap();
  m.def("variants", list_variants);
  m.def("baselines", list_baselines);
  m.def("vector_target", kernel::vector_target);
  m.def("share_cores", share_cores,
        "Lets this process share its cores well with others that compute.\n\n"
        "While other processes want the cores too, threads of PyTorch that wait for each other sleep instead "
        "of\n"
        "spinning. Results stay the same. For the rest of the program; call it after any fork().");
  m.def("keep_memory", keep_freed_memory,
        "Keeps the memory of freed tensors for the next ones, for the rest of the program.\n\n"
        "A training step frees and takes the same large blocks again and again. The system clears each page "
        "of\n"
        "a new block; with long tables (R, R+V) that is half of a step's time. synth always does this.");
  add_runs(m);

  py::class_<Parameter>(m, "Parameter")
      .def_readonly("name", &Parameter::name)
      .def_readonly("shape", &Parameter::shape)
      .def_readonly("trained", &Parameter::trained);

  py::class_<Count>(m, "Count")
      .def_readonly("synthesis", &Count::synthesis)
      .def_readonly("total", &Count::total)
      .def_readonly("macs", &Count::macs);

  py::class_<State>(m, "State", "The decoding state of one layer.")
      .def_property_readonly("batch", &State::batch)
      .def_property_readonly("position", &State::position)
      .def("reorder", &State::reorder, py::arg("indices"),
           "Row n becomes the former row indices[n]: selects and reorders beams.")
      .def(
          "copy", [](const State& state) { return state.copy(); }, "An independent copy.")
      .def("__copy__", [](const State& state) { return state.copy(); })
      .def("__deepcopy__", [](const State& state, const py::dict&) { return state.copy(); });

  const py::class_<LayerWeights> layer_weights(m, "LayerWeights",
                                               "Weights of a layer prepared for inference; immutable.");

  py::class_<Mixer>(m, "Mixer", "A layer without its tensors.")
      .def(py::init(&made), py::arg("attention"), py::arg("width"), py::arg("heads"), py::arg("max_length"),
           py::arg("causal"), py::arg("dropout"), py::arg("bias"), py::arg("options"))
      .def(py::pickle(&state_of, &from_state))
      .def_property_readonly("parameters", &Mixer::parameters)
      .def_property_readonly("is_global", &Mixer::global)
      .def_property_readonly("attention", &option<&AttentionOptions::attention>)
      .def_property_readonly("width", &option<&AttentionOptions::width>)
      .def_property_readonly("heads", &option<&AttentionOptions::heads>)
      .def_property_readonly("max_length", &option<&AttentionOptions::max_length>)
      .def_property_readonly("causal", &option<&AttentionOptions::causal>)
      .def_property_readonly("dropout", &option<&AttentionOptions::dropout>)
      .def_property_readonly("bias", &option<&AttentionOptions::bias>)
      .def_property_readonly("options", [](const Mixer& mixer) { return mixer.options().options.values(); })
      .def_property_readonly("spec", [](const Mixer& mixer) { return short_spec(mixer.options().attention); })
      .def_property_readonly("description",
                             [](const Mixer& mixer) { return layer_description(mixer.options()); })
      .def("initialise", [](const Mixer& mixer) { return mixer.initialise(); })
      .def("start", &Mixer::start)
      .def(
          "step",
          [](const Mixer& mixer, const std::vector<at::Tensor>& tensors, const at::Tensor& x, State& state) {
            return mixer.step({tensors, {}, {}}, x, state);
          },
          py::call_guard<py::gil_scoped_release>())
      .def(
          "prepare",
          [](const Mixer& mixer, const std::vector<at::Tensor>& tensors) {
            return mixer.prepare({tensors, {}, {}});
          },
          py::call_guard<py::gil_scoped_release>())
      .def(
          "forward_prepared",
          [](const Mixer& mixer, const LayerWeights& weights, const at::Tensor& x,
             const MaybeTensor& lengths) {
            const c10::AutoGradMode no_grad(false);
            return mixer.forward(weights, x, lengths.value_or(at::Tensor()), /*training=*/false);
          },
          py::call_guard<py::gil_scoped_release>())
      .def(
          "step_prepared",
          [](const Mixer& mixer, const LayerWeights& weights, const at::Tensor& x, State& state) {
            return mixer.step(weights, x, state);
          },
          py::call_guard<py::gil_scoped_release>())
      .def("count", &Mixer::count)
      .def("grown",
           [](const Mixer& mixer, int64_t max_length) { return make_mixer(mixer.grown(max_length)); })
      .def("grow", [](const Mixer& mixer, const std::vector<at::Tensor>& tensors, const Mixer& to) {
        return grow(mixer, tensors, to);
      });
}
