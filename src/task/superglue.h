#pragma once

#include <memory>
#include <vector>

#include "task/benchmark.h"

namespace synthesizer {

/// SuperGLUE (Wang et al. 2019): eight tasks in JSON lines, one object a line, in its official form.
std::vector<Benchmark> superglue_benchmarks();

/// MultiRC: a line is a passage with its questions, and an example is one answer to one of them, right or
/// not.
std::unique_ptr<BenchmarkReader> multirc_reader();
/// ReCoRD: a line is an article with queries, from each of which an entity of the article was taken out.
std::unique_ptr<BenchmarkReader> record_reader(bool training);
/// WSC: whether a pronoun means a noun of the same text. Both are marked in it.
std::unique_ptr<BenchmarkReader> wsc_reader();

}  // namespace synthesizer
