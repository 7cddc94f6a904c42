"""Projected speed of training on many workers: arithmetic from measured figures.

    ./run bench processes --setting translation --json FILE
    ./run bench projection --measured FILE
    ./run bench projection --rate 0.068            T multiply-adds/s, where they were measured otherwise

Measured: bytes of gradients per step and the time of a step of base translation, which is the model of
recipes/translation/wmt14-en-de.toml; from them bytes per parameter and multiply-adds per second of a CPU.
Stated: the rate of a GPU worker, and the networks' bandwidth and latency.

A worker is a process (or a machine). First table: each has its own batch of the recipe, so more workers make
larger steps. Second table: the workers divide the paper's batch (train.batch_tokens x train.accumulate of the
recipe), whose step one worker would do alone.
A ring all-reduce over N workers sends 2 (N - 1) / N times the bytes of the gradients from each of them and
has 2 (N - 1) messages in a row; it runs beside the backward pass, two thirds of a step's computation.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

# Parameters (none: those of the model that is measured), tokens of a worker's batch (train.batch_tokens of
# the recipe) and batches of a step of the paper's (train.accumulate). Forward and backward take 3
# multiply-adds for each parameter and token.
SETTINGS = {
    "WMT'14 en-de (Transformer base)": {"parameters": None, "tokens": 4096, "batches": 8},
    "C4 (T5 base)": {"parameters": 223e6, "tokens": 8192, "batches": 8},
}
BASE_PARAMETERS = 60.5e6  # of base translation, float32
MEASURED_TOKENS = 32 * 64  # of a step of base translation (src/bench/step_setting.cpp), on each side
GPU = 50e12  # multiply-adds per second
NETWORKS = {"1 Gbit/s": 0.125e9, "10 Gbit/s": 1.25e9, "100 Gbit/s": 12.5e9}
LATENCY = 50e-6  # seconds per message
WORKERS = [8, 64, 512]
BACKWARD = 2 / 3


def step_seconds(compute: float, sent: float, bandwidth: float, workers: int) -> float:
    """Seconds of a step. compute: those that a worker computes; sent: bytes of gradients."""
    exchange = sent * 2 * (workers - 1) / workers / bandwidth + 2 * (workers - 1) * LATENCY
    return compute + max(0.0, exchange - BACKWARD * compute)


def print_table(parameters: float, per_parameter: float, rates: dict[str, float], divided: bool) -> None:
    """divided: the workers divide the paper's batch; otherwise each has a batch of its own."""
    print("| setting | worker | step of one worker | bytes a step | network | ", end="")
    print(" | ".join(f"{n} workers" for n in WORKERS) + " |")
    print("|---" * (5 + len(WORKERS)) + "|")
    for name, setting in SETTINGS.items():
        count = setting["parameters"] or parameters
        sent = per_parameter * count
        tokens = setting["tokens"] * (setting["batches"] if divided else 1)
        for worker, rate in rates.items():
            alone = 3 * count * tokens / rate
            for network, bandwidth in NETWORKS.items():
                cells = []
                for n in WORKERS:
                    compute, batches = (alone / n, 1) if divided else (alone, n)
                    speed = batches * alone / step_seconds(compute, sent, bandwidth, n)
                    cells.append(f"{speed:.3g}×")
                values = [name, worker, f"{alone:.3g} s", f"{sent / 1e6:.0f} MB", network, *cells]
                print(f"| {' | '.join(values)} |")


def translation_row(parser: argparse.ArgumentParser, path: Path) -> dict:
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    found = [row for row in rows if row["setting"] == "translation"]
    if not found:
        parser.error(f"{path} has no row of base translation: measure with --setting translation")
    return found[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], prog="./run bench projection")
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--measured", type=Path, help="what bench processes --json wrote")
    given.add_argument("--rate", type=float, help="of a CPU worker, in T multiply-adds/s")
    a = parser.parse_args()
    parameters, rate, per_parameter = BASE_PARAMETERS, (a.rate or 0) * 1e12, 4.0
    if a.measured:
        row = translation_row(parser, a.measured)
        parameters = row["parameters"]
        rate = 3 * parameters * MEASURED_TOKENS / row["seconds"]["all threads"]
        per_parameter = row["bytes_per_step"] / parameters
    workers = {f"CPU, {rate / 1e12:.3f} T multiply-adds/s (measured)": rate}
    workers[f"GPU, {GPU / 1e12:.0f} T multiply-adds/s (assumed)"] = GPU
    print("Each worker has a batch of its own:\n")
    print_table(parameters, per_parameter, workers, divided=False)
    print("\nThe workers divide the paper's batch:\n")
    print_table(parameters, per_parameter, workers, divided=True)


if __name__ == "__main__":
    main()
