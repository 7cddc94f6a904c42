"""Several processes on the same cores at once: how much of its speed does each of them keep?

    ./run bench shared [--work training,decoding] [--processes 1,2,3] [--seconds 6] [--rounds 3] [--json FILE]

Training steps of the demo's model, and translation by a Transformer base. Every process uses all cores, as it
would by default. Beside ours: the same without core sharing, so that its cost to a process alone is seen, and
eager PyTorch. Every figure is the median over rounds and processes of the work done in a time in which all of
them were at work.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import measure
from comparison.options import list_of
from comparison.process import SYNTH, Process

TARGETS = {2: 0.45, 3: 0.28}  # of the speed of one alone
LEAST_ALONE = 0.97  # of the speed without core sharing
# libgomp's own default, said aloud: whoever sets it decides for himself, and our process does not interfere.
UNSHARED = {"GOMP_SPINCOUNT": "300000"}
WARM_UP = 3  # answers


class Worker:
    """A process that answers requests as fast as it can; when each answer came is kept."""

    def __init__(self, command: list[str], request: str, variables: dict[str, str]) -> None:
        self.process = Process(command, variables)
        self.answers: list[float] = []
        self.stopped = False
        threading.Thread(target=self._ask, args=(request,), daemon=True).start()
        threading.Thread(target=self._listen, daemon=True).start()

    def _ask(self, request: str) -> None:
        """Many requests ahead, so that the process never waits for this one."""
        try:
            while not self.stopped:
                self.process.process.stdin.write((request + "\n") * 50)
                self.process.process.stdin.flush()
        except (BrokenPipeError, ValueError):
            pass  # it was ended

    def _listen(self) -> None:
        for _ in self.process.process.stdout:
            self.answers.append(time.perf_counter())

    def end(self) -> None:
        self.stopped = True
        self.process.process.kill()
        self.process.process.wait()


@contextmanager
def at_work(kind: dict, count: int) -> Iterator[list[Worker]]:
    workers = [Worker(kind["command"], kind["request"], kind["variables"]) for _ in range(count)]
    try:
        while any(len(worker.answers) < WARM_UP for worker in workers):
            time.sleep(0.02)
            if any(worker.process.process.poll() is not None for worker in workers):
                raise RuntimeError("a process ended before it was measured")
        yield workers
    finally:
        for worker in workers:
            worker.end()


def speeds(kind: dict, count: int, seconds: float) -> list[float]:
    """Answers per second of each of so many processes, side by side: from the first to the last answer inside
    the time, so that half-done work counts for nobody."""
    with at_work(kind, count) as workers:
        begin = time.perf_counter()
        end = begin + seconds
        # Whoever needs longer than the time for one answer gets it.
        while time.perf_counter() < end or any(
            sum(when >= begin for when in worker.answers) < 2 for worker in workers
        ):
            time.sleep(0.05)
        result = []
        for worker in workers:
            inside = [when for when in worker.answers if when >= begin]
            result.append((len(inside) - 1) / (inside[-1] - inside[0]))
        return result


def training_kinds(threads: int, folder: Path) -> dict[str, dict]:
    def ours(where: str) -> list[str]:
        words = ["bench", "step", "--setting", "demo", "--attention", "V", "--threads", str(threads)]
        return [str(SYNTH), *words, "--peer-folder", str(folder / where)]

    first = Process(ours("weights"))  # leaves weights and tokens for the peer
    first.close()
    eager = [sys.executable, "-m", "peers.stepper", "eager", str(folder / "weights"), json.dumps(first.facts)]
    return {
        "ours": {"command": ours("ours"), "request": "", "variables": {}},
        "ours, not sharing": {"command": ours("unshared"), "request": "", "variables": UNSHARED},
        "eager PyTorch": {"command": eager, "request": "", "variables": {}},
    }


def decoding_kinds(threads: int, folder: Path) -> dict[str, dict]:
    words = [
        "bench",
        "decode",
        "--attention",
        "V",
        "--threads",
        str(threads),
        "--peer-folder",
        str(folder / "decode"),
    ]
    command, request = [str(SYNTH), *words], json.dumps({"beam": 1, "batch": 8})
    return {
        "ours": {"command": command, "request": request, "variables": {}},
        "ours, not sharing": {"command": command, "request": request, "variables": UNSHARED},
    }


KINDS = {"training": training_kinds, "decoding": decoding_kinds}


def judged(value: float, target: float | None) -> str:
    if target is None:
        return f"{value:.2f}"
    return f"{value:.2f} (target ≥ {target}: {'met' if value >= target else 'missed'})"


def table(work: str, rates: dict[tuple[str, int], float], counts: list[int]) -> str:
    """Rates as parts of the rate of one process alone."""
    head = [f"{work}, answers/s of one alone", *(f"each of {n}, part of that" for n in counts if n > 1)]
    lines = ["| | " + " | ".join(head) + " |", "|---" * (len(head) + 1) + "|"]
    for name in dict.fromkeys(name for name, _ in rates):
        alone = rates[name, 1]
        cells = [f"{alone:.1f}"]
        if name == "ours":
            cells[0] += f"; {judged(alone / rates['ours, not sharing', 1], LEAST_ALONE)} of not sharing"
        cells += [
            judged(rates[name, n] / alone, TARGETS.get(n) if name == "ours" else None)
            for n in counts
            if n > 1
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def run(a: argparse.Namespace, work: str) -> dict[tuple[str, int], float]:
    with tempfile.TemporaryDirectory() as folder:
        kinds = KINDS[work](a.threads, Path(folder))
        found: dict[tuple[str, int], list[float]] = {}
        for number in range(a.rounds):
            order = list(itertools.product(kinds, a.processes))
            random.shuffle(order)
            for name, count in order:
                found.setdefault((name, count), []).extend(speeds(kinds[name], count, a.seconds))
            print(f"{work}: round {number + 1} of {a.rounds} done", file=sys.stderr)
    return {key: statistics.median(found[key]) for key in itertools.product(kinds, a.processes)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], prog="./run bench shared")
    parser.add_argument("--work", type=list_of(list(KINDS)), default=list(KINDS))
    parser.add_argument("--processes", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2, 3])
    parser.add_argument("--threads", type=int, default=measure.cores(), help="of each process")
    parser.add_argument("--seconds", type=float, default=6, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="the figures, as a file")
    a = parser.parse_args()
    if 1 not in a.processes:
        parser.error("--processes must have a 1 in it: the others are compared with one alone")
    result = {"machine": measure.machine_facts(), "threads": a.threads, "answers_per_second": {}}
    for work in a.work:
        rates = run(a, work)
        result["answers_per_second"][work] = {
            f"{name}, {count}": rate for (name, count), rate in rates.items()
        }
        print(table(work, rates, a.processes) + "\n", flush=True)
    if a.json:
        a.json.write_text(json.dumps(result, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
