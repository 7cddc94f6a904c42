"""Trains the rows of a study over several seeds, and prints their table.

    ./run bench study FILE [--folder DIR] [--data ROOT] [--threads N] [--jobs N] [--show] [--anew] [--record]

FILE is one of study/*.toml: study/README.md says what it holds. A row is an attention with one choice of the
settings in `grid`. Runs that are finished are kept, those that were interrupted go on, so the command can be
stopped and started again; a run of other settings than the file's is an error. --jobs trains so many at once,
best with --threads 1; --data is the folder of the recipe's data; --show prints what is there and trains
nothing. Scores of earlier runs are in study/recorded/NAME.json; --anew passes them over, --record writes each
run's there as soon as it is finished. The table goes to standard output and to DIR/table.md, all numbers to
DIR/results.json. Relative paths are those of the folder in which ./run was called.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import itertools
import json
import math
import os
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path

import tomllib
from comparison.process import SYNTH


def list_of(kind: type, least: int = 0) -> Callable[[object], bool]:
    """A check of a value; true is no whole number."""

    def holds(value: object) -> bool:
        return isinstance(value, list) and len(value) >= least and all(type(entry) is kind for entry in value)

    return holds


def instance_of(kind: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, kind)


# The keys of a file: what their values must be, in words and as a check.
KEYS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "recipe": ("a text", instance_of(str)),
    "seeds": ("a list of whole numbers", list_of(int)),
    "set": ("a list of texts", list_of(str)),
    "rows": ("a list of tables", list_of(dict)),
    "held_out": ("a table", instance_of(dict)),
    "average": ("true or false", instance_of(bool)),
    "eval": ("a list of texts", list_of(str)),
    "measures": ("a list of one text or more", list_of(str, 1)),
    "choose": ("a table", instance_of(dict)),
    "test": ("a list of texts", list_of(str)),
    "test_measures": ("a list of one text or more", list_of(str, 1)),
}
NEEDED = ["recipe", "seeds", "rows"]
TRAINED_WITH = ["set", "held_out", "average"]  # what a run depends on beside its recipe, row and seed
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


def text_of(value) -> str:
    """A value of a grid as it is written in names of runs and in tables."""
    if isinstance(value, str):
        return value
    # 15 digits tell any two numbers of a grid apart, and 30.0 stays 30.
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return f"{value:.15g}" if is_number else json.dumps(value)


def name_of(attention: str, settings: dict, seed: int) -> str:
    words = [f"{key.rpartition('.')[2]}={text_of(value)}" for key, value in settings.items()]
    return "_".join([attention, *words, f"seed={seed}"]).replace("/", "-")


def check(study: dict) -> None:
    """Ends the program where the file asks for what cannot be done, before anything is trained."""
    if unknown := study.keys() - KEYS.keys():
        sys.exit(f"study: unknown key {min(unknown)}: there are {', '.join(sorted(KEYS))}")
    for key in NEEDED:
        if study.get(key) in (None, [], ""):
            sys.exit(f"study: the file has no {key}")
    for key, value in study.items():
        what, holds = KEYS[key]
        if not holds(value):
            sys.exit(f"study: {key} must be {what}")
    for row in study["rows"]:
        check_row(row)
    seeds = study["seeds"]
    if len(seeds) > len(QUANTILES) + 1:
        sys.exit(f"study: {len(seeds)} seeds: intervals are known for at most {len(QUANTILES) + 1}")
    if twice := {seed for seed in seeds if seeds.count(seed) > 1}:
        sys.exit(f"study: seed {min(twice)} is given twice: one run would count as two")
    steps_of(study)
    names = [name_of(*row, study["seeds"][0]) for row in rows_of(study)]
    if twice := {name for name in names if names.count(name) > 1}:
        sys.exit(f"study: two rows have the name {min(twice)}")
    if ("choose" in study) != ("test" in study):
        sys.exit("study: choose and test need each other: only rows that dev chose are tested")
    if "choose" in study and study["choose"].keys() not in ({"highest"}, {"lowest"}):
        sys.exit('study: choose is { highest = "MEASURE" } or { lowest = "MEASURE" }')
    if "eval" not in study:
        check_measures(measures_on_dev(study), {"loss": 0.0})


def check_row(row: dict) -> None:
    if unknown := row.keys() - {"attention", "grid"}:
        sys.exit(f"study: unknown key {min(unknown)} in [[rows]]: there are attention, grid")
    if not list_of(str, 1)(row.get("attention")):
        sys.exit("study: attention of [[rows]] must be a list of one text or more")
    grid = row.get("grid", {})
    if not isinstance(grid, dict) or not all(isinstance(values, list) and values for values in grid.values()):
        sys.exit("study: grid of [[rows]] must be a table of lists of one value or more")


def check_held_out(part: dict, recipe: dict) -> None:
    kinds = {"from": str, "rows": int, "test": str}
    if part.keys() != kinds.keys() or any(type(part[key]) is not kind for key, kind in kinds.items()):
        sys.exit('study: held_out is { from = "FILE", rows = NUMBER, test = "FILE" }')
    if recipe.get("data", {}).get("columns"):
        sys.exit("study: held_out does not go with data.columns: a header would be cut as a line")


def measures_on_dev(study: dict) -> list[str]:
    return [*study.get("measures", ["loss"]), *study.get("choose", {}).values()]


def measures_on_test(study: dict) -> list[str]:
    return study.get("test_measures", study.get("measures", ["loss"]))


def check_measures(names: list[str], scores: dict) -> None:
    """Ends the program where one of them is not among the scores. Which there are only `synth eval` tells."""
    known = sorted(name for name, value in scores.items() if not isinstance(value, str))
    for name in names:
        if name not in known:
            sys.exit(f"study: there is no measure {name}: there are {', '.join(known)}")


def steps_of(study: dict) -> int:
    steps = [word.partition("=")[2] for word in study.get("set", []) if word.startswith("train.steps=")]
    if not steps:
        sys.exit(
            'study: the file sets no train.steps, which are to be fixed in advance: set = ["train.steps=…"]'
        )
    if not steps[-1].isdecimal():
        sys.exit(f"study: train.steps={steps[-1]} is no number of steps")
    return int(steps[-1])


def last_step(run: Path) -> int:
    """Of the last validation that is on record; 0 where there is none."""
    steps = [entry["step"] for entry in validations(run)]
    return max(steps, default=0)


def validations(run: Path) -> list[dict]:
    entries = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    return [entry for entry in entries if entry.get("split") == "dev"]


def output_of(command: list) -> str:
    """Of a command of synth, which prints errors alone; a failure ends the program. Standard output is the
    table's."""
    words = [str(part) for part in [*command, "--quiet"]]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        RUNNING.add(process)
        output, _ = process.communicate()
        RUNNING.discard(process)
    if process.returncode != 0:
        sys.exit(f"study: status {process.returncode} of {shlex.join(words)}")
    return output


def read(path: Path, advice: str = "") -> bytes:
    """Of a file that the user named."""
    try:
        return path.read_bytes()
    except OSError as error:
        sys.exit(f"study: {path} cannot be read: {error.strerror}{advice}")


def read_toml(path: Path) -> dict:
    try:
        return tomllib.loads(read(path).decode())
    except ValueError as error:
        sys.exit(f"study: {path} is not TOML: {error}")


def write(path: Path, content: bytes) -> None:
    """All of it or nothing, whenever this program is killed."""
    beside = path.with_name(path.name + ".tmp")
    beside.write_bytes(content)
    os.replace(beside, path)


def write_json(path: Path, value) -> None:
    write(path, (json.dumps(value, indent=1) + "\n").encode())


def hold_out(part: dict, source: Path, folder: Path) -> dict:
    """Cuts a dev set from the training file; the settings that name the files.

    Lines are chosen by their hash: the same ones on every machine, and equal lines are on one side."""
    file, test = source / part["from"], source / part["test"]
    advice = ": give the folder of the recipe's data with --data"
    if not test.is_file():
        sys.exit(f"study: there is no file {test}{advice}")
    content = read(file, advice)
    packed = file.suffix == ".gz"
    try:
        content = gzip.decompress(content) if packed else content
    except (OSError, EOFError, zlib.error) as error:
        sys.exit(f"study: {file} is a damaged gzip file: {error}")
    lines = content.removesuffix(b"\n").split(b"\n")
    if not 0 < part["rows"] < len(lines):
        sys.exit(f"study: held_out.rows is {part['rows']}, but {file} has {len(lines)} lines")
    hashes = [hashlib.sha256(line).digest() for line in lines]
    limit = sorted(hashes)[part["rows"] - 1]
    folder.mkdir(parents=True, exist_ok=True)
    names = {split: split + "".join(file.suffixes) for split in ("train", "dev")}
    for split, name in names.items():
        kept = [line for line, found in zip(lines, hashes) if (found <= limit) == (split == "dev")]
        text = b"".join(line + b"\n" for line in kept)
        write(folder / name, gzip.compress(text, mtime=0) if packed else text)
    given = {"root": str(folder.resolve()), **names, "test": str(test.resolve())}
    return {f"data.{key}": value for key, value in given.items()}


def settings_of(study: dict, recipe: dict, attention: str, settings: dict, seed: int) -> dict:
    """What the file fixes of a run: its results stand in the table of these settings alone."""
    shared = {key: study[key] for key in TRAINED_WITH if key in study}
    return {"recipe": recipe, **shared, "attention": attention, "settings": settings, "seed": seed}


class Recorded:
    """Scores of runs that were trained earlier, whose folders may be gone: study/recorded/NAME.json."""

    def __init__(self, file: Path, study: dict, recipe: dict, anew: bool):
        self.file = file
        self.lock = threading.Lock()
        shared = {key: study[key] for key in [*TRAINED_WITH, "eval", "test"] if key in study}
        self.content: dict = {"recipe": recipe, **shared, "runs": {}}
        if anew or not file.exists():
            return
        found = json.loads(file.read_text())
        keys = (self.content.keys() | found.keys()) - {"runs"}
        if differ := sorted(key for key in keys if self.content.get(key) != found.get(key)):
            sys.exit(
                f"study: {file} is of other settings ({', '.join(differ)} differ): use --anew, or delete it"
            )
        self.content = found

    def scores(self, run: str, split: str) -> dict[str, float] | None:
        """`split`: dev or test."""
        return self.content["runs"].get(run, {}).get(split)

    def add(self, run: Path, split: str, scores: dict[str, float]) -> None:
        made = json.loads((run / "run.json").read_text())
        with self.lock:
            runs = self.content["runs"]
            of = {"processor": made["processor"], "commit": made["commit"]}
            runs[run.name] = runs.get(run.name, {}) | of | {split: scores}
            self.content["runs"] = dict(sorted(runs.items()))
            self.file.parent.mkdir(exist_ok=True)
            write_json(self.file, self.content)


def is_trained(run: Path, wanted: dict) -> bool:
    """Whether the run is complete. Ends the program where it was trained with other settings."""
    file = run / "study-settings.json"
    if not file.exists():
        return False
    found = json.loads(file.read_text())
    differ = [key for key in {**wanted, **found} if wanted.get(key) != found.get(key)]
    if differ:
        sys.exit(
            f"study: {run} was trained with other settings ({', '.join(differ)} of {file.name} differ): "
            "choose another --folder, or delete it"
        )
    return True


def train(study: dict, recipe: Path, run: Path, settings: dict, data: dict, threads: list[str]) -> None:
    """Trains the run, or goes on with it."""
    given = {"model.attention": settings["attention"], **settings["settings"], "seed": settings["seed"]}
    given |= data
    words = [*study.get("set", []), *(f"{key}={json.dumps(value)}" for key, value in given.items())]
    command = [SYNTH, "train", recipe, "--run", run, *(part for word in words for part in ("--set", word))]
    if (run / "train_state.safetensors").exists():
        command.append("--resume")  # which refuses a run that began with another recipe
    else:
        shutil.rmtree(run, ignore_errors=True)  # of a start that was stopped before it saved anything
    output_of([*command, *threads])
    if last_step(run) != steps_of(study):
        sys.exit(f"study: {run} ended after {last_step(run)} steps, not {steps_of(study)}: delete it")
    if study.get("average"):
        output_of([SYNTH, "average", run])
    write_json(run / "study-settings.json", settings)  # last: a run that has it is complete


def evaluation(run: Path, name: str, words: list[str]) -> dict[str, float] | None:
    """What `synth eval` with these words gave; nothing where it has not been asked yet."""
    file = run / name
    found = json.loads(file.read_text()) if file.exists() else {}
    return found.get("scores") if found.get("words") == words else None


def evaluate(run: Path, name: str, words: list[str], threads: list[str]) -> None:
    if evaluation(run, name, words) is None:
        scores = json.loads(output_of([SYNTH, "eval", run, "--json", *words, *threads]))
        write_json(run / name, {"words": words, "scores": scores})


def scores_of(study: dict, run: Path) -> dict[str, float] | None:
    """The measures on dev of a complete run."""
    if "eval" in study:
        return evaluation(run, "study.json", study["eval"])
    return {"loss": validations(run)[-1]["loss"]}


def result_of(
    study: dict, recipe: dict, folder: Path, recorded: Recorded, attention: str, settings: dict
) -> dict:
    """What is known of a row on dev: the seeds whose runs are complete, their names and their scores."""
    row: dict = {"attention": attention, "settings": settings, "seeds": [], "runs": [], "scores": []}
    for seed in study["seeds"]:
        run = folder / name_of(attention, settings, seed)
        trained = is_trained(run, settings_of(study, recipe, attention, settings, seed))
        scores = scores_of(study, run) if trained else recorded.scores(run.name, "dev")
        if scores is not None:
            check_measures(measures_on_dev(study), scores)
            row["seeds"].append(seed)
            row["runs"].append(run.name)
            row["scores"].append(scores)
    return row


def summary(values: list[float], sign: str = "") -> str:
    """Mean ± half of the 95% interval of the mean."""
    mean = statistics.mean(values)
    if len(values) < 2:
        return f"{mean:{sign}.3f}"
    half = QUANTILES[len(values) - 2] * statistics.stdev(values) / math.sqrt(len(values))
    return f"{mean:{sign}.3f} ± {half:.3f}"


def differences(row: dict, first: dict, name: str) -> list[float]:
    """To the first row, seed by seed, where both have the seed."""
    of = dict(zip(first["seeds"], first["scores"]))
    pairs = zip(row["seeds"], row["scores"])
    return [scores[name] - of[seed][name] for seed, scores in pairs if seed in of]


def table(measures: list[str], rows: list[dict], first: dict) -> str:
    """The last two columns are of the first measure; `first` is the row that the others are compared with."""
    titles = ["attention", "settings", "seeds", *measures]
    titles += ["standard deviation", "difference to the first row, paired"]
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    for row in rows:
        values = [scores[measures[0]] for scores in row["scores"]]
        paired = [] if row is first else differences(row, first, measures[0])
        cells = [
            row["attention"],
            ", ".join(f"{key} {text_of(value)}" for key, value in row["settings"].items()),
            str(len(values)),
            *(summary([scores[name] for scores in row["scores"]]) for name in measures),
            f"{statistics.stdev(values):.3f}" if len(values) > 1 else "–",
            summary(paired, "+").replace("-", "−") if paired else "–",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def chosen(study: dict, results: list[dict]) -> list[dict]:
    """Of each attention the row with the best mean on dev."""
    ((direction, name),) = study["choose"].items()
    best = max if direction == "highest" else min
    of: dict[str, list[dict]] = {}
    for row in results:
        of.setdefault(row["attention"], []).append(row)
    return [
        best(rows, key=lambda row: statistics.mean(scores[name] for scores in row["scores"]))
        for rows in of.values()
    ]


def test_scores_of(study: dict, run: Path, recorded: Recorded) -> dict[str, float] | None:
    return evaluation(run, "study-test.json", study["test"]) or recorded.scores(run.name, "test")


def table_of_test(study: dict, best: list[dict], folder: Path, recorded: Recorded) -> str:
    """Of the chosen rows, which get their scores on test; empty where one has not been scored yet."""
    for row in best:
        scores = [test_scores_of(study, folder / name, recorded) for name in row["runs"]]
        if None in scores:
            return ""
        for known in scores:
            check_measures(measures_on_test(study), known)
        row["test"] = scores
    rows = [{**row, "scores": row["test"]} for row in best]
    title = "\nOn test, of each attention the row that dev chose:\n\n"
    return title + table(measures_on_test(study), rows, rows[0])


def do_all(pool: ThreadPoolExecutor, work: Callable, arguments: Iterable[tuple]) -> None:
    """When one fails, those that run beside it are finished and no other is started."""
    trainings: list[Future] = []
    failed = threading.Event()  # a thread whose work has failed takes the next before it can be cancelled

    def work_on(*given) -> None:
        if failed.is_set():
            return
        try:
            work(*given)
        except BaseException:
            failed.set()
            raise

    try:
        for given in arguments:
            trainings.append(pool.submit(work_on, *given))
        for training in as_completed(trainings):
            training.result()
    except BaseException:
        for training in trainings:
            training.cancel()
        raise


def path_of_caller(text: str) -> Path:
    """./run changes the folder: a path is meant from where the user stands."""
    return Path(os.environ.get("CALLER", "."), text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file", type=path_of_caller)
    parser.add_argument(
        "--folder", type=path_of_caller, help="of the runs (default: runs/study/NAME of the repository)"
    )
    parser.add_argument("--data", type=path_of_caller, help="folder of the recipe's data")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--jobs", type=int, default=1, help="trainings at once (default: %(default)s)")
    parser.add_argument("--show", action="store_true", help="train nothing")
    parser.add_argument("--anew", action="store_true", help="also what is recorded is trained")
    parser.add_argument("--record", action="store_true", help="write each run's scores to study/recorded")
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, pass_on)
    if options.jobs < 1:
        sys.exit(f"study: --jobs is {options.jobs}: it must be at least 1")
    study = read_toml(options.file)
    check(study)
    file = (options.file.parent / study["recipe"]).resolve()
    recipe = read_toml(file)
    if "held_out" in study:
        check_held_out(study["held_out"], recipe)
    folder = options.folder or Path("runs/study") / options.file.stem
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sys.exit(f"study: {folder} cannot be made: {error.strerror}")
    rows = rows_of(study)
    threads = ["--threads", str(options.threads)] if options.threads else []
    data = {"data.root": str(options.data)} if options.data else {}

    record = options.file.parent / "recorded" / f"{options.file.stem}.json"
    recorded = Recorded(record, study, recipe, options.anew)

    def results() -> list[dict]:
        return [result_of(study, recipe, folder, recorded, *row) for row in rows]

    def make(run: Path, attention: str, settings: dict, seed: int) -> None:
        """Trains it, if that has not been done, and asks for its scores on dev."""
        wanted = settings_of(study, recipe, attention, settings, seed)
        if not is_trained(run, wanted):
            print(f"training {run.name}", file=sys.stderr, flush=True)
            train(study, file, run, wanted, data, threads)
        if "eval" in study:
            evaluate(run, "study.json", study["eval"], threads)
            check_measures(measures_on_dev(study), scores_of(study, run))
        if options.record:
            recorded.add(run, "dev", scores_of(study, run))

    def make_row(seed: int, row: tuple[str, dict]) -> None:
        run = folder / name_of(*row, seed)
        if run.exists() or recorded.scores(run.name, "dev") is None:
            make(run, *row, seed)

    def test(attention: str, settings: dict, seed: int) -> None:
        run = folder / name_of(attention, settings, seed)
        if test_scores_of(study, run, recorded) is not None:
            return
        make(run, attention, settings, seed)  # where its scores on dev were recorded, it may be gone
        evaluate(run, "study-test.json", study["test"], threads)
        check_measures(measures_on_test(study), evaluation(run, "study-test.json", study["test"]))
        if options.record:
            recorded.add(run, "test", evaluation(run, "study-test.json", study["test"]))

    found = results()  # also where something is trained first: no run may be of other settings
    if not options.show:
        if "held_out" in study:
            source = options.data or file.parent / recipe.get("data", {}).get("root", "")
            data = hold_out(study["held_out"], source, folder / "data")
        with ThreadPoolExecutor(options.jobs) as pool:
            do_all(pool, make_row, itertools.product(study["seeds"], rows))
        found = results()
    known = [row for row in found if row["scores"]]
    if not known:
        sys.exit("study: no run is finished yet")
    measures = study.get("measures", ["loss"])
    text = table(measures, known, found[0])
    if "test" in study and all(row["seeds"] == study["seeds"] for row in found):
        best = chosen(study, found)
        if not options.show:
            runs = [(row["attention"], row["settings"], seed) for row in best for seed in row["seeds"]]
            with ThreadPoolExecutor(options.jobs) as pool:
                do_all(pool, test, runs)
        text += table_of_test(study, best, folder, recorded)
    write_json(folder / "results.json", known)
    write(folder / "table.md", text.encode())
    print(text, end="")


if __name__ == "__main__":
    main()
