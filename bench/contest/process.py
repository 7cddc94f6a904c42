"""Contenders that are processes, asked line by line: memory is its own, and nobody's allocator or threads
touch another's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

REST = 0.05  # seconds before a request, in which the threads of the one before stop waiting for more work


class Process:
    """Says facts about itself when it is ready, then answers every line with one of JSON."""

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
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        done = self.answer()
        self.seconds.append(done["seconds"])
        self.peak = done["peak"]
        return done

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
