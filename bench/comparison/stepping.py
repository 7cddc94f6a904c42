"""Competitors that take training steps, each in a process of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .process import Process

FIRST_LOSSES = 3  # that all competitors with the same weights must share
TOLERANCE = 2e-3  # relative; bfloat16 gets ten times as much


class Stepping(Process):
    """A process that takes a step whenever it is told to."""

    def __init__(self, command: list[str]) -> None:
        super().__init__(command)
        self.losses: list[float] = []

    def step(self, how: str = "") -> None:
        """how: "check" leaves dropout out."""
        self.losses.append(self.ask(how)["loss"])


def ours(synth: Path, setting: str, attention: str, precision: str, threads: int, folder: Path) -> Stepping:
    command = [str(synth), "bench", "step", "--setting", setting, "--attention", attention]
    command += ["--precision", precision, "--threads", str(threads), "--peer-folder", str(folder)]
    return Stepping(command)


def peer(mode: str, facts: dict, folder: Path) -> Stepping:
    """After ours of the same attention has left its weights in the folder."""
    return Stepping([sys.executable, "-m", "peers.stepper", mode, str(folder), json.dumps(facts)])


def check_same_work(competitors: dict[str, Stepping], precision: str) -> float:
    """The largest relative difference of their first losses; RuntimeError where it is no rounding."""
    tolerance = TOLERANCE * (10 if precision == "bfloat16" else 1)
    (first_name, first), *others = competitors.items()
    largest = 0.0
    for name, other in others:
        for a, b in zip(first.losses[:FIRST_LOSSES], other.losses[:FIRST_LOSSES], strict=True):
            largest = max(largest, abs(a - b) / abs(a))
        if largest > tolerance:
            raise RuntimeError(
                f"{first_name} and {name} do different work: losses {first.losses} and {other.losses}"
            )
    return largest
