#pragma once

#include <CLI/App.hpp>

namespace synthesizer::cli {

// One function per measurement of `synth bench`; each adds its command.
void add_bench_attention(CLI::App& bench);
void add_bench_decode(CLI::App& bench);
void add_bench_step(CLI::App& bench);

}  // namespace synthesizer::cli
