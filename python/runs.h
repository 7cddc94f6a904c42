#pragma once

#include <torch/csrc/utils/pybind.h>

/// Trained runs and metrics for Python: what `synth translate`, `generate`, `eval` and `score` do.
void add_runs(pybind11::module_& module);
