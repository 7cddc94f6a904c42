#!/usr/bin/env python3
"""Writes bootstrap_cases.h: what sacreBLEU finds in resamples that NumPy has drawn.

usage: pip install sacrebleu==2.4.3 numpy && ./make_bootstrap_cases.py > bootstrap_cases.h

The scores are sacreBLEU's own, of sums in double precision: its paired test sums in single precision,
which with NumPy 2 leaves six digits of a score.
"""

import numpy
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import _compute_p_value, estimate_ci

SEGMENTS, RESAMPLES = 24, 60
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = "the a small old dog cat house sees finds has near under with and quick red .".split()


def reference(i):
    return [WORDS[(i * i + 5 * j + i * j) % len(WORDS)] for j in range(6 + i % 7)]


def first(i):
    """Every fourth word is another."""
    return [WORDS[(j + i) % len(WORDS)] if (i + j) % 4 == 3 else word for j, word in enumerate(reference(i))]


def second(i):
    """Some are missing, and in every third segment the first two change places."""
    words = [word for j, word in enumerate(reference(i)) if (2 * i + j) % 5 != 4]
    return [words[1], words[0]] + words[2:] if i % 3 == 0 else words


def numbers(values):
    lines = [", ".join(repr(float(v)) for v in values[i : i + 5]) for i in range(0, len(values), 5)]
    return "{" + ",\n     ".join(lines) + "}"


def texts(lines):
    return "{" + ",\n     ".join(f'"{line}"' for line in lines) + "}"


def case(name, metric, systems, references, indices):
    scores, whole = [], []
    for system in systems:
        counts = numpy.array(metric._extract_corpus_statistics(system, [references]), dtype="int64")
        scores.append(
            [metric._compute_score_from_stats(counts[drawn].sum(0).tolist()).score for drawn in indices]
        )
        whole.append(metric.corpus_score(system, [references]).score)
    scores = numpy.array(scores)
    differences = numpy.abs(scores[1] - scores[0])
    p = _compute_p_value(differences - differences.mean(), abs(whole[1] - whole[0]))
    intervals = [[float(v) for v in estimate_ci(one)] for one in scores]
    spread = ", ".join("{" + ", ".join(map(repr, one)) + "}" for one in intervals)
    return (
        f'    {{"{name}",\n     {{{", ".join(map(repr, whole))}}},\n     {{{spread}}},\n     {p!r},\n     {{'
        + numbers(scores[0])
        + ",\n     "
        + numbers(scores[1])
        + "}},\n"
    )


def main():
    references = [" ".join(reference(i)) for i in range(SEGMENTS)]
    systems = [[" ".join(system(i)) for i in range(SEGMENTS)] for system in (first, second)]
    indices = numpy.random.default_rng(12345).choice(SEGMENTS, size=(RESAMPLES, SEGMENTS), replace=True)
    drawn = ["".join(LETTERS[i] for i in one) for one in indices]
    cases = "".join(
        case(name, metric, systems, references, indices)
        for name, metric in (("bleu", BLEU()), ("chrf", CHRF()))
    )
    print(
        f"""#pragma once

// Written by make_bootstrap_cases.py with sacreBLEU 2.4.3.

#include <string>
#include <utility>
#include <vector>

namespace synthesizer::testing {{

// clang-format off
struct BootstrapCase {{
  std::string metric;
  std::vector<double> score;  ///< of all segments, for both systems
  std::vector<std::pair<double, double>> mean_and_ci;
  double p_value;
  std::vector<std::vector<double>> scores;  ///< of the resamples
}};

inline const std::vector<std::string> kReferences =
    {texts(references)};
inline const std::vector<std::string> kFirst =
    {texts(systems[0])};
inline const std::vector<std::string> kSecond =
    {texts(systems[1])};

/// A resample a line, a letter a segment.
inline const std::vector<std::string> kDrawn =
    {texts(drawn)};

inline const std::vector<BootstrapCase> kBootstrapCases = {{
{cases}}};
// clang-format on

}}  // namespace synthesizer::testing"""
    )


if __name__ == "__main__":
    main()
