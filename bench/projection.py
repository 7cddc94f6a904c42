"""Projected speed of training on many workers: arithmetic, no measurement. The table of docs/scaling.md.

    ./run bench projection

A worker is a process (or a machine) with its own batch of the recipe, so more workers make larger steps.
A ring all-reduce over N workers sends 2 (N - 1) / N times the bytes of the gradients from each of them and
has 2 (N - 1) messages in a row; it runs beside the backward pass, two thirds of a step's computation.
"""

from __future__ import annotations

import argparse

# Parameters, and tokens of a worker's batch (train.batch_tokens of the recipe). Forward and backward take 3
# multiply-adds for each parameter and token.
SETTINGS = {
    "WMT'14 en-de (Transformer base)": {"parameters": 60.5e6, "tokens": 4096},
    "C4 (T5 base)": {"parameters": 223e6, "tokens": 8192},
}
RATES = {"CPU worker, 0.15 T multiply-adds/s": 0.15e12, "GPU worker, 50 T multiply-adds/s": 50e12}
NETWORKS = {"1 Gbit/s": 0.125e9, "10 Gbit/s": 1.25e9, "100 Gbit/s": 12.5e9}
LATENCY = 50e-6  # seconds a message
WORKERS = [8, 64, 512]
BACKWARD = 2 / 3


def efficiency(parameters: float, tokens: float, rate: float, bandwidth: float, workers: int) -> float:
    """Speed of `workers`, divided by that many times the speed of one."""
    compute = 3 * parameters * tokens / rate
    exchange = 4 * parameters * 2 * (workers - 1) / workers / bandwidth + 2 * (workers - 1) * LATENCY
    return compute / (compute + max(0.0, exchange - BACKWARD * compute))


def main() -> None:
    argparse.ArgumentParser(description=__doc__.split("\n")[0], prog="./run bench projection").parse_args()
    print(
        "| setting | worker | bytes a step | network | " + " | ".join(f"{n} workers" for n in WORKERS) + " |"
    )
    print("|---" * (4 + len(WORKERS)) + "|")
    for name, setting in SETTINGS.items():
        for worker, rate in RATES.items():
            for network, bandwidth in NETWORKS.items():
                speeds = [
                    f"{efficiency(setting['parameters'], setting['tokens'], rate, bandwidth, n) * n:.3g}×"
                    for n in WORKERS
                ]
                size = f"{4 * setting['parameters'] / 1e6:.0f} MB"
                print(f"| {name} | {worker} | {size} | {network} | {' | '.join(speeds)} |")


if __name__ == "__main__":
    main()
