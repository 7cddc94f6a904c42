"""Power loss: what a training wrote, replayed up to every point at which the power could fail.

tests/faults/inject.cpp writes down every change of a file and every sync, in order. Each beginning of that
list is made into a folder, as a strict file system would have it after the loss:

    synced      only what was synced: bytes of files by their own fsync, names by an fsync of their folder
    names       all names, but of the bytes only what was synced: files that were not are empty
    everything  all of it, as after a kill
    mixed       of each folder and each file one or the other, drawn from a seed

Each must be a usable run, which --resume brings to the bits of an undisturbed one, or no run at all, cleanly.
A slice of the points here; all of them with SWEEP=complete ./run test cli_power_loss.
"""

import os
import pathlib
import random
import shutil
import subprocess

import pytest
from fault_scenarios import SHORT, chosen
from program import changes
from runs import assert_same_run, assert_tidy, saved_step

MODELS = ["synced", "names", "everything", "mixed"]
FEW = 5  # of each model


class Disk:
    """Files and folders as the program sees them, and as they are on the disk."""

    def __init__(self, root):
        self.bytes, self.synced_bytes = {}, {}  # by file
        self.names, self.synced_names = {root: {}}, {root: {}}  # by folder: {name: file or folder}
        self.numbers = {}  # inode: our own number, as inodes are used again
        self.root = root

    def file(self, inode):
        return self.numbers[inode]

    def apply(self, operation, data):
        what, inode, first, second = operation
        if what == "open":
            folder, name = os.path.split(first)
            known = self.names[folder].get(name)
            if known is None or known != self.numbers.get(inode):
                self.numbers[inode] = number = len(self.bytes)
                self.bytes[number], self.synced_bytes[number] = b"", b""
                self.names[folder][name] = number
            elif second == "truncate":
                self.bytes[self.file(inode)] = b""
        elif what == "write":
            self.bytes[self.file(inode)] += data[int(first) : int(first) + int(second)]
        elif what == "truncate":
            self.bytes[self.file(inode)] = self.bytes[self.file(inode)][: int(first)]
        elif what == "fsync":
            if first in self.names:
                self.synced_names[first] = dict(self.names[first])
            else:
                self.synced_bytes[self.file(inode)] = self.bytes[self.file(inode)]
        elif what == "mkdir":
            folder, name = os.path.split(first)
            self.names[folder][name] = first
            self.names[first], self.synced_names[first] = {}, {}
        elif what == "unlink":
            folder, name = os.path.split(first)
            del self.names[folder][name]
        elif what == "rename":
            folder, name = os.path.split(first)
            moved = self.names[folder].pop(name)
            folder, name = os.path.split(second)
            self.names[folder][name] = moved
        else:
            raise AssertionError(operation)

    def after_loss(self, model, draw):
        """{path below the root: bytes, or None for a folder} after the power has failed."""
        left = {}

        def keep(kind):
            return {"synced": False, "names": kind == "names", "everything": True}.get(
                model, draw.random() < 0.5
            )

        def add(folder):
            names = self.names[folder] if keep("names") else self.synced_names[folder]
            for name, target in sorted(names.items()):
                path = os.path.join(folder, name)
                if isinstance(target, str):
                    left[os.path.relpath(path, self.root)] = None
                    add(target)
                else:
                    data = self.bytes[target] if keep("bytes") else self.synced_bytes[target]
                    left[os.path.relpath(path, self.root)] = data

        add(self.root)
        return left


def write(left, place):
    for path, data in left.items():
        if data is None:
            (place / path).mkdir(parents=True)
        else:
            (place / path).write_bytes(data)


@pytest.fixture(scope="module")
def recorded(environment, language_recipe, tmp_path_factory):
    """An undisturbed training, and all that it did to its folder."""
    folder = tmp_path_factory.mktemp("power")
    place = folder / "place"
    place.mkdir()
    variables = {"LD_PRELOAD": os.environ["FAULT_INJECTION"], "FAULTS_UNDER": str(place),
                 "FAULTS_TRACE": str(folder / "trace")}  # fmt: skip
    command = [os.environ["SYNTH"], "train", language_recipe, "--run", place / "run", *settings(folder)]
    subprocess.run(command, check=True, env={**environment, **variables}, capture_output=True)
    operations = [line.split("\t") for line in (folder / "trace").read_text().splitlines()]
    return place, operations, (folder / "trace.data").read_bytes()


def settings(folder):
    return changes([*SHORT, f"data.cache={folder}/cache"])


def test_the_replay_of_everything_is_what_is_there(recorded):
    """Else the tests below would test something else."""
    place, operations, data = recorded
    disk = Disk(str(place))
    for operation in operations:
        disk.apply(operation, data)
    left = disk.after_loss("everything", random.Random(1))
    files = [path for path in place.rglob("*") if path.is_file() and not path.name.startswith("events.")]
    there = {str(path.relative_to(place)): path.read_bytes() for path in files}
    assert {path: text for path, text in left.items() if text is not None} == there
    # At the end nothing that counts is left to be lost.
    survived = disk.after_loss("synced", random.Random(1))
    for name in ["config.toml", "run.json", "tokenizer.model", "model.safetensors", "train_state.safetensors",
                 "metrics.jsonl", "report.html"]:  # fmt: skip
        assert survived[f"run/{name}"] == there[f"run/{name}"], name


@pytest.mark.parametrize("model", MODELS)
def test_every_moment_leaves_a_usable_run_or_none(synth, mistake, language_recipe, recorded, tmp_path, model):
    place, operations, data = recorded
    draw = random.Random(f"power loss {model}")
    disk, states = Disk(str(place)), []
    states.append((0, disk.after_loss(model, draw)))
    for number, operation in enumerate(operations, 1):
        disk.apply(operation, data)
        left = disk.after_loss(model, draw)
        if left != states[-1][1]:
            states.append((number, left))
    saved, best = 0, 0
    for index in chosen(len(states), FEW):
        number, left = states[index - 1]
        here = tmp_path / "here"
        shutil.rmtree(here, ignore_errors=True)
        here.mkdir()
        write(left, here)
        try:
            step = use(synth, mistake, language_recipe, place.parent, here / "run")
            assert_same_run(here / "run", place / "run")
            assert_tidy(here)
        except Exception as problem:
            problem.add_note(f"after {number} of {len(operations)} operations: {sorted(left)}")
            raise
        saved += step > 0
        # Time goes on, and what was saved stays saved.
        assert step >= best or model == "mixed", (number, step, best)
        best = max(best, step)
    assert saved > 0 and best == 4
    print(
        f"{model}: {len(operations)} operations, {len(states)} different states, {saved} tried ones had saved"
    )


def use(synth, mistake, recipe, folder, run):
    """Goes on as a user does; the step that had been saved."""
    step = saved_step(run)
    if step:
        synth("eval", run, "--weights", "last", "--data", "dev")
        synth("train", "--run", run, "--resume", *settings(folder))
        return step
    if pathlib.Path(run).exists():  # cleanly nothing: the message says what to do
        words = ["delete it"] if (run / "config.toml").exists() else ["nothing to resume"]
        mistake("train", "--run", run, "--resume", words=words)
        shutil.rmtree(run)
    synth("train", recipe, "--run", run, *settings(folder))
    return 0
