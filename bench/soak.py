"""Memory and open files over a long time: a training that saves and validates, a translation that never ends.

    ./run bench soak [--train SECONDS] [--decode SECONDS] [--threads N] [--json FILE]

Resident memory and descriptors of the process are sampled once a second. The first fifth of the time warms
up. Of the rest the verdict is "flat" where a straight line through the samples rises by less than 1% of the
memory, or by less than 2 MB, and where no more files are open in its last third than in its first. Exit
status 1 where it is not.

For longer runs: --train 3600 --decode 600.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from comparison.process import SYNTH

ROOT = Path(__file__).resolve().parent.parent
MEGABYTE = 1e6


def sample(process: subprocess.Popen) -> tuple[float, int] | None:
    """Resident bytes and open descriptors; nothing where the process has ended."""
    folder = Path(f"/proc/{process.pid}")
    try:
        pages = int((folder / "statm").read_text().split()[1])
        return pages * 4096, len(list((folder / "fd").iterdir()))
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return None


def watch(process: subprocess.Popen, seconds: float) -> list[tuple[float, float, int]]:
    """(seconds since the beginning, bytes, descriptors), once a second."""
    begin, found = time.monotonic(), []
    while (now := time.monotonic() - begin) < seconds:
        one = sample(process)
        if one is None or process.poll() is not None:
            sys.exit(f"soak: error: the program ended after {now:.0f} s with status {process.poll()}")
        found.append((now, *one))
        time.sleep(1)
    return found


def slope(points: list[tuple[float, float]]) -> float:
    """Of the straight line with the least squares."""
    n = len(points)
    x, y = sum(p[0] for p in points) / n, sum(p[1] for p in points) / n
    return sum((p[0] - x) * (p[1] - y) for p in points) / sum((p[0] - x) ** 2 for p in points)


def verdict(name: str, samples: list[tuple[float, float, int]], work: str) -> dict:
    steady = samples[len(samples) // 5 :]
    third = max(len(steady) // 3, 1)
    rise = slope([(t, memory) for t, memory, _ in steady]) * (steady[-1][0] - steady[0][0])
    memory = sum(m for _, m, _ in steady) / len(steady)
    files = [max(f for _, _, f in part) for part in (steady[:third], steady[-third:])]
    flat = rise < max(memory / 100, 2 * MEGABYTE) and files[1] <= files[0]
    print(
        f"{name:<8} {samples[-1][0]:6.0f} s  {work:<24} memory {memory / MEGABYTE:.1f} MB, "
        f"rise {rise / MEGABYTE:+.2f} MB  files {files[0]} then {files[1]}  {'flat' if flat else 'NOT FLAT'}",
        flush=True,
    )
    return {"name": name, "seconds": samples[-1][0], "work": work, "memory_bytes": memory, "rise_bytes": rise,
            "files_first": files[0], "files_last": files[1], "flat": flat}  # fmt: skip


def changes(*settings: str) -> list[str]:
    return [word for setting in settings for word in ("--set", setting)]


def soak_training(folder: Path, seconds: float, threads: int) -> dict:
    """A small language model that validates and saves about once a second."""
    run = folder / "language"
    settings = changes(
        "train.steps=1000000000",
        "train.eval_every=100",
        "train.save_every=50",
        "train.log_every=10",
        "train.keep=3",
        "train.batch_tokens=1024",
        "train.schedule=constant",
        f"data.root={ROOT}/data/tiny-shakespeare",
        "data.dev=dev.txt",
        f"data.cache={folder}/cache",
        "model.layers=2",
        "model.width=64",
        "model.heads=4",
        "model.feed_forward=128",
        "model.max_length=64",
    )
    recipe = folder / "language.toml"
    recipe.write_text('task = "language-model"\n[data]\ntrain = "train.txt"\ntokenizer = "characters"\n'
                      'vocabulary = 0\n[model]\nattention = "R+V"\n')  # fmt: skip
    command = [SYNTH, "train", recipe, "--run", run, "--threads", str(threads), *settings]
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            while not (run / "train_state.safetensors").exists() and process.poll() is None:
                time.sleep(0.1)
            samples = watch(process, seconds)
        finally:
            process.terminate()
            process.wait()
    steps = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])["step"]
    return verdict("train", samples, f"{steps:,} steps")


def soak_decoding(folder: Path, seconds: float, threads: int) -> dict:
    """Lines of different lengths, without end, through one synth translate."""
    data, run = folder / "numbers", folder / "translation"
    subprocess.run([sys.executable, ROOT / "tools/make_numbers.py", data], check=True)
    settings = changes(
        f"data.root={data}", "train.steps=20", "train.eval_every=20", f"data.cache={folder}/cache"
    )
    train = [SYNTH, "train", ROOT / "recipes/translation/numbers.toml", "--run", run, *settings]
    subprocess.run(train, check=True, capture_output=True)
    lines = (data / "train.en").read_text().splitlines()[:2000]
    command = [SYNTH, "translate", run, "--beam", "4", "--threads", str(threads)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    done, ended = 0, threading.Event()

    def feed() -> None:
        try:
            while not ended.is_set():
                for first in range(0, len(lines), 50):
                    process.stdin.write("".join(line + "\n" for line in lines[first : first + 50]))
                    process.stdin.flush()
        except (BrokenPipeError, ValueError):
            pass

    def count() -> None:
        nonlocal done
        for _ in process.stdout:
            done += 1

    workers = [threading.Thread(target=work, daemon=True) for work in (feed, count)]
    for worker in workers:
        worker.start()
    try:
        samples = watch(process, seconds)
    finally:
        ended.set()
        process.kill()
        process.wait()
    return verdict("decode", samples, f"{done:,} lines")


def main() -> int:
    parser = argparse.ArgumentParser(prog="./run bench soak")
    parser.add_argument("--train", type=float, default=300, help="seconds of training (default: 300)")
    parser.add_argument("--decode", type=float, default=180, help="seconds of decoding (default: 180)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path, help="a file for the figures")
    a = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        if a.train > 0:
            found.append(soak_training(Path(folder), a.train, a.threads))
        if a.decode > 0:
            found.append(soak_decoding(Path(folder), a.decode, a.threads))
    if a.json:
        a.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0 if all(one["flat"] for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
