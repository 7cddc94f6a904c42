"""How long it takes until something happens: synth --help, synth variants, a translation of one line.

    ./run bench startup [--run RUN] [--rounds 15] [--json FILE]

Beside them a program that only loads LibTorch, which sets the floor, and `import torch`. Without --run a
small model that reads numbers is trained first, for a few steps: how good it is does not matter here.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import measure
import torch
from comparison.process import SYNTH

ROOT = Path(__file__).resolve().parent.parent
LINE = "four hundred twenty-three\n"
TARGETS = {"synth --help": 0.3, "synth variants": 0.3, "a translation": 0.6}  # seconds


def empty_program(folder: Path) -> Path:
    """A program that is linked with LibTorch and does nothing."""
    libraries = Path(torch.__file__).parent / "lib"
    source, program = folder / "empty.cpp", folder / "empty"
    source.write_text("int main() {}\n")
    command = [
        "c++",
        source,
        "-o",
        program,
        f"-L{libraries}",
        f"-Wl,-rpath,{libraries}",
        "-Wl,--no-as-needed",
    ]
    subprocess.run([*command, "-ltorch_cpu", "-lc10"], check=True)
    return program


def small_run(folder: Path) -> Path:
    data, run = folder / "numbers", folder / "run"
    subprocess.run([sys.executable, ROOT / "tools/make_numbers.py", data], check=True)
    command = [SYNTH, "train", ROOT / "recipes/translation/numbers.toml", "--run", run]
    for setting in (f"data.root={data}", "train.steps=20", "train.eval_every=20"):
        command += ["--set", setting]
    subprocess.run(command, check=True, capture_output=True)
    return run


def seconds_of(command: list, text: str = "") -> float:
    begin = time.perf_counter()
    subprocess.run(command, input=text, text=True, check=True, capture_output=True)
    return time.perf_counter() - begin


def report(seconds: dict[str, float], floor: str) -> str:
    lines = ["| | seconds | beyond LibTorch's own | asked |", "|---|---|---|---|"]
    for name, value in seconds.items():
        asked = TARGETS.get(name)
        verdict = "" if asked is None else f"{'reached' if value < asked else 'missed'}: {asked} s"
        beyond = "" if name == floor else f"{value - seconds[floor]:+.2f}"
        lines.append(f"| {name} | {value:.2f} | {beyond} | {verdict} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], prog="./run bench startup")
    parser.add_argument("--run", type=Path, help="a translation run; its source language is English")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path, help="the figures, as a file")
    a = parser.parse_args()
    floor = "a program that loads LibTorch"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = a.run or small_run(folder)
        commands = {
            floor: [empty_program(folder)],
            "synth --help": [SYNTH, "--help"],
            "synth variants": [SYNTH, "variants"],
            "a translation": [SYNTH, "translate", run],
            "python -c 'import torch'": [sys.executable, "-c", "import torch"],
        }
        competitors = {
            name: lambda command=command: seconds_of(command, LINE) for name, command in commands.items()
        }
        times = measure.interleaved(competitors, 0, least=a.rounds, most=a.rounds)
    seconds = {name: measure.median(values) for name, values in times.items()}
    print(report(seconds, floor))
    if a.json:
        result = {"machine": measure.machine_facts(), "seconds": seconds}
        a.json.write_text(json.dumps(result, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
