"""Processes that train together: how tests start them, wait for them and compare what they trained."""

import json
import os
import pathlib
import random
import socket
import subprocess

import numpy
import pytest
import tensors
from program import changes

SMALL = [
    "train.eval_every=25",
    "train.save_every=25",
    "train.log_every=5",
    "train.batch_tokens=128",
    "train.threads=1",
]
TIMEOUT = "6"


def close(run, other, tolerance=1e-5):
    """The weights of two runs agree up to rounding."""
    a, b = (tensors.read(folder / "train_state.safetensors") for folder in (run, other))
    assert list(a) == list(b)
    weights = [name for name in a if name.startswith("model.")]
    assert weights
    for name in weights:
        difference = numpy.linalg.norm((a[name] - b[name]).astype("f8"))
        assert difference <= tolerance * max(numpy.linalg.norm(a[name].astype("f8")), 1e-3), name


def together(environment, count, *arguments, port=None, variables=None, ranks=None, folders=None):
    """Starts processes by the variables that torchrun sets. `variables`: others, by rank; None unsets one.
    `folders`: where each is started, by rank."""
    port = port or free_port()
    started = []
    for rank in ranks or range(count):
        own = {"RANK": rank, "WORLD_SIZE": count, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": count,
               "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "OMP_NUM_THREADS": 1}  # fmt: skip
        own.update((variables or {}).get(rank, {}))
        words = arguments[0](rank) if callable(arguments[0]) else arguments
        started.append(
            subprocess.Popen([os.environ["SYNTH"], *map(str, words)], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env=with_variables(environment, own), cwd=(folders or {}).get(rank))
        )  # fmt: skip
    return started


def with_variables(environment, own):
    changed = {**environment, **own}
    return {name: str(value) for name, value in changed.items() if value is not None}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def ends(processes, seconds=60):
    """Status and standard error of each."""
    results = []
    try:
        for process in processes:
            _, errors = process.communicate(timeout=seconds)
            results.append((process.returncode, errors))
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
    return results


def last_line(errors):
    lines = errors.strip().splitlines()
    assert sum(line.startswith("synth: error: ") for line in lines) == 1, errors
    assert lines[-1].startswith("synth: error: "), errors
    return lines[-1]


def workers_of(run):
    """Processes that train this run, by rank."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().decode().split("\0")
            variables = (entry / "environ").read_bytes().decode(errors="replace").split("\0")
        except (OSError, ValueError):
            continue
        ranks = [word[5:] for word in variables if word.startswith("RANK=")]
        if words[0] == os.environ["SYNTH"] and str(run) in words and ranks:
            found[int(ranks[0])] = int(entry.name)
    return found


def has_open(process, ending):
    """Whether a process has a file open whose name ends so."""
    try:
        links = pathlib.Path(f"/proc/{process}/fd").iterdir()
        return any(os.readlink(link).endswith(ending) for link in links)
    except FileNotFoundError:  # one that was closed meanwhile
        return False


@pytest.fixture(scope="session")
def train_together(synth):
    """Trains a run with several processes and returns its folder."""

    def run(recipe, folder, count, *settings):
        done = synth("train", recipe, "--run", folder, "--processes", count, *changes(settings))
        assert done.stdout == f"{folder}\n"
        assert json.loads((folder / "run.json").read_text())["processes"] == count
        return folder

    return run


@pytest.fixture(scope="session")
def labelled(tmp_path_factory):
    """A recipe of a classification."""
    folder = tmp_path_factory.mktemp("labelled")
    draw = random.Random(1)
    for split, lines in [("train", 300), ("dev", 60)]:
        rows = []
        for _ in range(lines):
            label = draw.choice(["red", "blue"])
            words = [draw.choice([label[0], "x", "y"]) for _ in range(draw.randint(2, 8))]
            rows.append(f"{label}\t{' '.join(words)}\n")
        (folder / f"{split}.tsv").write_text("".join(rows))
    recipe = folder / "labels.toml"
    recipe.write_text(
        f"""
task = "classification"
[data]
root = "{folder}"
train = "train.tsv"
dev = "dev.tsv"
tokenizer = "words"
vocabulary = 0
[model]
width = 16
heads = 2
layers = 1
feed_forward = 32
max_length = 16
"""
    )
    return recipe
