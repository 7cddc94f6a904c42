"""Contenders that take training steps, each in a process of its own: memory is its own, and
nobody's allocator or threads touch another's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

FIRST_LOSSES = 3  # that all contenders with the same weights must share
REST = 0.05  # seconds before a step, in which the threads of the one before stop waiting for more work
TOLERANCE = 2e-3  # relative; bfloat16 gets ten times as much


class Stepping:
    """A process that takes a step whenever it is told to."""

    def __init__(self, command: list[str]) -> None:
        path = os.pathsep.join(p for p in sys.path if p)
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": path},
        )
        self.facts = self.answer()
        self.losses: list[float] = []
        self.seconds: list[float] = []
        self.peak = 0

    def answer(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(self.process.args)} ended with status {self.process.wait()}")
        return json.loads(line)

    def step(self, how: str = "") -> None:
        """how: "check" leaves dropout out."""
        time.sleep(REST)
        self.process.stdin.write(how + "\n")
        self.process.stdin.flush()
        done = self.answer()
        self.seconds.append(done["seconds"])
        self.losses.append(done["loss"])
        self.peak = done["peak"]

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def ours(synth: Path, setting: str, attention: str, precision: str, threads: int, folder: Path) -> Stepping:
    command = [str(synth), "bench", "step", "--setting", setting, "--attention", attention]
    command += ["--precision", precision, "--threads", str(threads), "--on-request", str(folder)]
    return Stepping(command)


def peer(mode: str, facts: dict, folder: Path) -> Stepping:
    """After ours of the same attention has left its weights in the folder."""
    return Stepping([sys.executable, "-m", "peers.stepper", mode, str(folder), json.dumps(facts)])


def check_same_work(contenders: dict[str, Stepping], precision: str) -> float:
    """The largest relative difference of their first losses; RuntimeError where it is no rounding."""
    tolerance = TOLERANCE * (10 if precision == "bfloat16" else 1)
    (first_name, first), *others = contenders.items()
    largest = 0.0
    for name, other in others:
        for a, b in zip(first.losses[:FIRST_LOSSES], other.losses[:FIRST_LOSSES], strict=True):
            largest = max(largest, abs(a - b) / abs(a))
        if largest > tolerance:
            raise RuntimeError(
                f"{first_name} and {name} do different work: losses {first.losses} and {other.losses}"
            )
    return largest
