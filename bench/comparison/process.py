"""Competitors that are processes, asked line by line: memory is its own, and nobody's allocator or threads
touch another's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

# $SYNTH: another build of it, for long runs beside which this one is built anew.
SYNTH = Path(os.environ.get("SYNTH") or Path(__file__).resolve().parents[2] / "build/release/bin/synth")
REST = 0.05  # seconds before a request, in which the threads of the one before stop waiting for more work


def environment() -> dict[str, str]:
    """Of a python that finds what this one finds."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def bytes_printed(module: str, words: list, about: str) -> int:
    """What a module of ours prints when it runs in a fresh process; RuntimeError where it fails."""
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, words)],
        env=environment(),
        check=False,  # said in our own words below
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise RuntimeError(f"peak memory of {about}: {done.stderr.strip()}")
    return int(done.stdout)


class Process:
    """Says facts about itself when it is ready, then answers every line with one of JSON."""

    def __init__(self, command: list[str], variables: dict[str, str] | None = None) -> None:
        self._open(command, variables)
        self.facts = self.answer()

    @classmethod
    def start(cls, command: list[str], variables: dict[str, str]) -> Process:
        """Without waiting until it is ready: others may have to start first."""
        process = cls.__new__(cls)
        process._open(command, variables)
        return process

    def _open(self, command: list[str], variables: dict[str, str] | None) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment() | (variables or {}),
        )
        self.seconds: list[float] = []
        self.peak = 0

    def answer(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(self.process.args)} ended with status {self.process.wait()}")
        return json.loads(line)

    def ask(self, line: str) -> dict:
        """The answer, whose time and memory are kept."""
        time.sleep(REST)
        self.send(line)
        done = self.answer()
        self.seconds.append(done["seconds"])
        self.peak = done["peak"]
        return done

    def send(self, line: str) -> None:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
