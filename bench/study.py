"""Trains the rows of a study over several seeds, and prints their table.

    ./run bench study FILE [--folder DIR] [--data ROOT] [--threads N] [--jobs N] [--show]

FILE is one of study/*.toml: study/README.md says what it holds. A row is an attention with one choice of the
settings in `grid`. Runs that are finished are kept, those that were interrupted go on, so the command can be
stopped and started again. --jobs trains so many at once, best with --threads 1; --data is the folder of the
recipe's data; --show prints what is there and trains nothing. The table goes to standard output and to
DIR/table.md, all numbers to DIR/results.json.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import shutil
import signal
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path

import tomllib
from comparison.process import SYNTH

# Of Student's t distribution with 1, 2, … degrees of freedom: 97.5% lie below.
QUANTILES = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26]
RUNNING: set[subprocess.Popen] = set()


def pass_on(number: int, _) -> None:
    """A signal to this process alone: what trains saves and ends, and goes on with the next start."""
    for process in list(RUNNING):
        process.send_signal(number)
    sys.exit(128 + number)


def rows_of(study: dict) -> list[tuple[str, dict]]:
    """(attention, {setting: value}) of every row, in the order of the file."""
    found = []
    for block in study["rows"]:
        grid = block.get("grid", {})
        for attention in block["attention"]:
            for values in itertools.product(*grid.values()):
                found.append((attention, dict(zip(grid, values))))
    return found


def name_of(attention: str, settings: dict, seed: int) -> str:
    words = [f"{key.rpartition('.')[2]}={value:g}" for key, value in settings.items()]
    return "_".join([attention, *words, f"seed={seed}"])


def last_step(run: Path) -> int:
    """Of the last validation that is on record; 0 where there is none."""
    log = run / "metrics.jsonl"
    lines = log.read_text().splitlines() if log.exists() else []
    steps = [entry["step"] for entry in map(json.loads, lines) if entry.get("split") == "dev"]
    return max(steps, default=0)


def output_of(command: list) -> str:
    """Of a command of synth, which says nothing else but errors. Standard output is the table's."""
    words = [str(part) for part in [*command, "--quiet"]]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        RUNNING.add(process)
        output, _ = process.communicate()
        RUNNING.discard(process)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, words)
    return output


def train(study: dict, recipe: Path, run: Path, attention: str, settings: dict, seed: int, options) -> None:
    """Trains the run, or goes on with it; scores it where the study asks for that."""
    given = {"model.attention": attention, **settings, "seed": seed}
    words = [*study.get("set", []), *(f"{key}={value}" for key, value in given.items())]
    if options.data:
        words.append(f"data.root={options.data}")
    command = [SYNTH, "train", "--run", run]
    if (run / "train_state.safetensors").exists():
        command.append("--resume")
    else:
        shutil.rmtree(run, ignore_errors=True)  # of a start that was stopped before it saved anything
        command += [recipe, *(part for word in words for part in ("--set", word))]
    threads = ["--threads", str(options.threads)] if options.threads else []
    output_of([*command, *threads])
    if study.get("average"):
        output_of([SYNTH, "average", run])
    if "eval" in study:
        (run / "study.json").write_text(output_of([SYNTH, "eval", run, "--json", *study["eval"], *threads]))


def steps_of(study: dict) -> int:
    steps = [word.partition("=")[2] for word in study.get("set", []) if word.startswith("train.steps=")]
    if not steps:
        sys.exit(
            'study: the file sets no train.steps, which are to be fixed in advance: set = ["train.steps=…"]'
        )
    return int(steps[-1])


def scores_of(study: dict, run: Path) -> dict[str, float] | None:
    """The measures of a finished run; nothing where it is not finished."""
    if last_step(run) < steps_of(study):
        return None
    if "eval" in study:
        file = run / "study.json"
        return json.loads(file.read_text()) if file.exists() else None
    entries = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    return {"loss": [entry["loss"] for entry in entries if entry.get("split") == "dev"][-1]}


def summary(values: list[float]) -> str:
    """Mean ± half of the 95% interval of the mean, and how many there are."""
    mean = statistics.mean(values)
    if len(values) < 2:
        return f"{mean:.3f}"
    half = QUANTILES[len(values) - 2] * statistics.stdev(values) / math.sqrt(len(values))
    return f"{mean:.3f} ± {half:.3f}"


def table(study: dict, results: list[dict]) -> str:
    measures = study.get("measures", ["loss"])
    lines = ["| attention | settings | seeds | " + " | ".join(measures) + " | standard deviation |"]
    lines.append("|" + "---|" * (4 + len(measures)))
    for row in results:
        settings = ", ".join(f"{key} {value:g}" for key, value in row["settings"].items())
        cells = [summary([scores[name] for scores in row["scores"]]) for name in measures]
        first = [scores[measures[0]] for scores in row["scores"]]
        spread = f"{statistics.stdev(first):.3f}" if len(first) > 1 else "–"
        lines.append(
            f"| {row['attention']} | {settings} | {len(first)} | " + " | ".join(cells) + f" | {spread} |"
        )
    return "\n".join(lines) + "\n"


def do_all(pool: ThreadPoolExecutor, work: Callable, arguments: Iterable[tuple]) -> None:
    """When one fails, those that run beside it are finished and no other is started."""
    trainings: list[Future] = []
    try:
        for given in arguments:
            trainings.append(pool.submit(work, *given))
        for training in as_completed(trainings):
            training.result()
    except BaseException:
        for training in trainings:
            training.cancel()
        raise


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--folder", type=Path, help="of the runs (default: runs/study/NAME)")
    parser.add_argument("--data", help="folder of the recipe's data")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--jobs", type=int, default=1, help="trainings at once (default: %(default)s)")
    parser.add_argument("--show", action="store_true", help="train nothing")
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, pass_on)
    study = tomllib.loads(options.file.read_text())
    recipe = (options.file.parent / study["recipe"]).resolve()
    folder = options.folder or Path("runs/study") / options.file.stem
    folder.mkdir(parents=True, exist_ok=True)
    rows = rows_of(study)
    if len(study["seeds"]) > len(QUANTILES) + 1:
        sys.exit(f"study: {len(study['seeds'])} seeds: intervals are known for at most {len(QUANTILES) + 1}")

    def train_row(seed: int, number: int) -> None:
        attention, settings = rows[number]
        run = folder / name_of(attention, settings, seed)
        if scores_of(study, run) is not None:
            return
        print(f"seed {seed}, row {number + 1} of {len(rows)}: {run.name}", file=sys.stderr, flush=True)
        train(study, recipe, run, attention, settings, seed, options)

    if not options.show:
        with ThreadPoolExecutor(options.jobs) as pool:
            do_all(pool, train_row, itertools.product(study["seeds"], range(len(rows))))
    results = []
    for attention, settings in rows:
        runs = [folder / name_of(attention, settings, seed) for seed in study["seeds"]]
        scores = [found for run in runs if (found := scores_of(study, run)) is not None]
        if scores:
            results.append({"attention": attention, "settings": settings, "scores": scores})
    if not results:
        sys.exit("study: no run is finished yet")
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (folder / "table.md").write_text(table(study, results))
    print(table(study, results), end="")


if __name__ == "__main__":
    main()
