"""Peak memory of one layer at a point, in a process of its own: parameters, input and all that a call takes.

As a program (python -m comparison.layer_peak_memory COMPETITOR PASSES POINT…) it prints the bytes.
"""

from __future__ import annotations

import sys
from dataclasses import astuple, replace

import measure
import torch

from .layers import make
from .points import Point
from .process import bytes_printed


def peak_of(point: Point, name: str, passes: str) -> int:
    """In a fresh process."""
    return bytes_printed(
        "comparison.layer_peak_memory", [name, passes, *astuple(point)], f"{name} at {point}"
    )


def main() -> None:
    name, passes, attention, *sizes = sys.argv[1:]
    point = Point(attention, *map(int, sizes))
    torch.set_num_threads(point.threads)

    def work(point: Point):
        module, made = make(point, [name])
        module.train(passes == "training")
        (competitor,) = made.competitors
        return competitor.both if passes == "training" else competitor.forward

    # Libraries, threads and code come into memory with the first call: a small one, before the count begins.
    work(replace(point, length=64))()
    before = measure.status_bytes("VmRSS")
    call = work(point)
    held = measure.status_bytes("VmRSS") - before
    print(held + measure.peak_memory(call))


if __name__ == "__main__":
    main()
