"""Start of a training on a large corpus: the first one, one that goes on after a kill, and the next ones.

    ./run bench corpus [--megabytes 1000] [--task language-model,translation] [--folder DIR]

Generates the corpus in a temporary folder (--folder: inside that one) and removes it. Every start trains a
tiny model for one step, so what it takes is the data. Peak memory is that of the process, pages of mapped
files included, which the system can take back at any time; "its own" is what it has allocated itself
(RssAnon of /proc/PID/status, read every 10 ms).
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import measure
from comparison.options import list_of
from comparison.process import SYNTH

TASKS = ["language-model", "translation"]
SETTINGS = [
    "data.tokenizer=words",
    "data.vocabulary=8000",
    "model.width=16",
    "model.heads=2",
    "model.layers=1",
    "model.feed_forward=16",
    "model.max_length=64",
    "train.steps=1",
    "train.batch_tokens=256",
]


def generate(path: Path, megabytes: int, seed: int) -> None:
    """Sentences of words with frequencies as in a language."""
    draw = random.Random(seed)
    letters = "etaoinshrdlu"
    words = ["".join(draw.choices(letters, k=draw.randint(2, 9))) for _ in range(20000)]
    weights = [1 / (rank + 2) for rank in range(len(words))]
    sentences = [" ".join(draw.choices(words, weights, k=draw.randint(5, 40))) + "\n" for _ in range(50000)]
    left = megabytes * 1_000_000
    with open(path, "w", encoding="ascii") as file:
        while left > 0:
            text = "".join(draw.choices(sentences, k=20000))
            file.write(text)
            left -= len(text)
    old = time.time() - 100  # a file that has just been written is read again, in case it still changes
    os.utime(path, (old, old))


def own_memory(process: int) -> int:
    """Bytes that a process has allocated itself; 0 where it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    found = [line.split()[1] for line in status.splitlines() if line.startswith("RssAnon:")]
    return int(found[0]) * 1024 if found else 0


def start(task: str, folder: Path, name: str, seconds: float | None = None) -> dict:
    """One training; killed after so many seconds, where they are given."""
    recipe = folder / f"{task}.toml"
    train = '"train.en"' if task == "language-model" else '["train.en", "train.de"]'
    recipe.write_text(
        f'task = "{task}"\n[data]\nroot = "{folder}"\ntrain = {train}\ncache = "{folder}/cache-{task}"\n'
    )
    command = [str(SYNTH), "train", str(recipe), "--run", str(folder / f"run-{task}-{name}"), "--quiet"]
    for setting in SETTINGS:
        command += ["--set", setting]
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    own = ended = 0
    while not ended:
        time.sleep(0.01)
        own = max(own, own_memory(process.pid))
        if seconds is not None and time.perf_counter() - begin > seconds:
            os.kill(process.pid, signal.SIGKILL)
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
    took = time.perf_counter() - begin
    if seconds is None and status != 0:
        sys.exit(process.stderr.read().decode())
    return {"seconds": took, "peak": usage.ru_maxrss * 1024, "own": own}


def run(task: str, megabytes: int, folder: Path) -> None:
    shutil.rmtree(folder / f"cache-{task}", ignore_errors=True)
    rows = {"first start": start(task, folder, "first")}
    rows["second start"] = start(task, folder, "second")
    rows["third start"] = start(task, folder, "third")
    shutil.rmtree(folder / f"cache-{task}")
    half = rows["first start"]["seconds"] * 0.6
    start(task, folder, "killed", half)
    parts = len([path for path in (folder / f"cache-{task}").glob("*.parts/*") if path.name.isdigit()])
    rows[f"after a SIGKILL at {half:.0f} s, {parts} parts made"] = start(task, folder, "resumed")
    print(f"\n{task}, {megabytes} MB per file\n\n| | time | peak memory | its own |\n|---|---|---|---|")
    for name, row in rows.items():
        memory = f"{row['peak'] / 1e6:.0f} MB | {row['own'] / 1e6:.0f} MB"
        print(f"| {name} | {row['seconds']:.2f} s | {memory} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], prog="./run bench corpus")
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--task", type=list_of(TASKS), default=TASKS[:1])
    parser.add_argument("--folder", help="where to make the temporary folder")
    a = parser.parse_args()
    machine = measure.machine_facts()
    print(f"{machine['processor']}, {machine['cores']} cores, {machine['date'][:10]}")
    with tempfile.TemporaryDirectory(dir=a.folder) as name:
        folder = Path(name)
        generate(folder / "train.en", a.megabytes, 1)
        if "translation" in a.task:
            shutil.copy2(folder / "train.en", folder / "train.de")
        for task in a.task:
            run(task, a.megabytes, folder)


if __name__ == "__main__":
    main()
