"""Processes that train together are killed again and again: the weights must be those of a run that nothing
happened to.

    ./run bench kills [--kills 30] [--processes 2] [--by resume|torchrun] [--seed 1] [--set KEY=VALUE …]

Every kill is a SIGKILL to a random rank at a random moment: while it starts, trains or saves. "resume" starts
the run again with --resume; with "torchrun" its agent starts the processes again. Ends with status 1 where a
bit differs.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from comparison.process import SYNTH

ROOT = Path(__file__).resolve().parents[1]
RECIPE = ROOT / "recipes" / "language-model" / "shakespeare.toml"
SETTINGS = [
    "model.width=32",
    "model.layers=2",
    "model.heads=2",
    "model.feed_forward=64",
    "train.batch_tokens=256",
    "train.eval_every=50",
    "train.save_every=7",
    "train.log_every=20",
    "train.threads=1",
]
STARTING = 1.5  # seconds within which a third of the kills come


def header(path: Path) -> dict:
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(length))


def saved_step(run: Path) -> int:
    state = run / "train_state.safetensors"
    return int(header(state)["__metadata__"]["step"]) if state.exists() else 0


def tensor_bytes(path: Path) -> dict[str, bytes]:
    """Of every tensor: weights and the optimizer's state."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    entries = {name: entry for name, entry in header(path).items() if name != "__metadata__"}
    places = {
        name: [8 + length + offset for offset in entry["data_offsets"]] for name, entry in entries.items()
    }
    return {name: raw[begin:end] for name, (begin, end) in places.items()}


def workers(run: Path) -> dict[int, int]:
    """Processes that train this run, by rank."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().decode().split("\0")
            status = (entry / "status").read_text()
            variables = (entry / "environ").read_bytes().decode(errors="replace").split("\0")
        except (OSError, UnicodeDecodeError):
            continue
        if Path(words[0]) != SYNTH or str(run) not in words or "\nState:\tZ" in status:
            continue
        ranks = [int(word[5:]) for word in variables if word.startswith("RANK=")]
        if ranks:
            found[ranks[0]] = int(entry.name)
    return found


def children(process: subprocess.Popen) -> list[int]:
    try:
        return [
            int(word) for word in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        ]
    except OSError:
        return []


class Killer:
    """Kills a random rank at random moments, spread over the steps of the run."""

    def __init__(self, a: argparse.Namespace, run: Path) -> None:
        self.draw, self.run, self.left, self.a = random.Random(a.seed), run, a.kills, a
        self.steps_at_kills: list[int] = []

    def wait_and_kill(self, process: subprocess.Popen, pids) -> bool:
        """False where the process ended before."""
        begin = time.monotonic()
        done = self.a.kills - self.left
        early = self.draw.random() < 1 / 3
        target = 0 if early else min(self.a.steps - 10, (done + 1) * self.a.steps // (self.a.kills + 1))
        delay = self.draw.uniform(0, STARTING if early else 0.3)
        killed = False
        while not killed:
            if process.poll() is not None:
                return False
            time.sleep(0.005)
            if time.monotonic() - begin < delay or saved_step(self.run) < target:
                continue
            found = pids()  # none: they are being started
            with contextlib.suppress(ProcessLookupError):
                if found:
                    os.kill(self.draw.choice(found), signal.SIGKILL)
                    killed = True
        self.left -= 1
        self.steps_at_kills.append(saved_step(self.run))
        return True


def command(a: argparse.Namespace, run: Path) -> list[str]:
    words = [str(SYNTH), "train", str(RECIPE), "--run", str(run), "--timeout", "10", "--quiet"]
    for setting in [*SETTINGS, f"train.steps={a.steps}", *a.set]:
        words += ["--set", setting]
    return words


def by_resume(a: argparse.Namespace, run: Path, killer: Killer) -> int:
    """Number of starts."""
    for start in range(1, 10 * a.kills + 10):
        resume = ["--resume"] if saved_step(run) else []
        if not resume:
            shutil.rmtree(run, ignore_errors=True)
        words = [*command(a, run), "--processes", str(a.processes), *resume]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        killed = killer.left > 0 and killer.wait_and_kill(process, lambda p=process: children(p))
        _, errors = process.communicate(timeout=600)
        if process.returncode == 0:
            return start
        if not killed:
            raise RuntimeError(f"it failed without having been killed: {errors}")
    raise RuntimeError("it does not get on")


def by_torchrun(a: argparse.Namespace, run: Path, killer: Killer) -> int:
    words = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(a.processes)]
    words += ["--max-restarts", str(a.kills + 5), "--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0"]
    words += ["--no-python", "--", *command(a, run)]
    log = tempfile.TemporaryFile("w+")
    process = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)
    while killer.left > 0 and killer.wait_and_kill(process, lambda: list(workers(run).values())):
        pass
    if process.wait(timeout=600) != 0:
        log.seek(0)
        raise RuntimeError(f"torchrun failed: {log.read()[-2000:]}")
    return len(killer.steps_at_kills) + 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], prog="./run bench kills")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--by", choices=["resume", "torchrun"], default="resume")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], help="a key of the recipe, as KEY=VALUE")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        whole, run = Path(name) / "whole", Path(name) / "run"
        words = [*command(a, whole), "--processes", str(a.processes)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        killer = Killer(a, run)
        starts = (by_torchrun if a.by == "torchrun" else by_resume)(a, run, killer)
        ours, theirs = (tensor_bytes(folder / "train_state.safetensors") for folder in (run, whole))
        differ = [name for name in theirs if ours.get(name) != theirs[name]]
        print(
            f"{len(killer.steps_at_kills)} kills of {a.processes} processes in {starts} starts, at saved "
            f"steps {killer.steps_at_kills}; {len(theirs)} tensors of step {saved_step(run)}, "
            f"{len(differ)} differ"
        )
        if differ or list(ours) != list(theirs):
            sys.exit(f"these differ: {differ}")


if __name__ == "__main__":
    main()
