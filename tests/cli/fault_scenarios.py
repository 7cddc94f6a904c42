"""Commands that are disturbed: by calls of the system that fail (test_faults.py), by SIGKILL (test_kills.py).

Each scenario works in a folder of its own, `place`, with the run, the cache of tokenized text and all else
that the command writes. It knows what an undisturbed command makes, and how a user goes on after a disturbed
one.
"""

import os
import pathlib
import shutil
import subprocess

import tensors
from program import changes
from runs import assert_same_run, assert_tidy, saved_step, scores_in_table

SHORT = [
    "train.steps=4",
    "train.save_every=2",
    "train.eval_every=2",
    "train.keep=2",
    "train.threads=1",
    "train.batch_tokens=64",
]

# "complete", or how many cases of each kind are tried; otherwise a slice.
SWEEP = os.environ.get("SWEEP", "")


def spread(count, most):
    """So many of 1 … count, evenly, the first and the last among them; all where there are no more."""
    if count <= most:
        return list(range(1, count + 1))
    return sorted({1 + round(i * (count - 1) / max(most - 1, 1)) for i in range(most)})


def chosen(count, few):
    """Which of 1 … count are tried, evenly spread: all in a complete sweep, a few in a slice."""
    most = count if SWEEP == "complete" else int(SWEEP or few)
    return spread(count, most)


class Scenario:
    """A command, what it needs, and what it must leave behind."""

    def __init__(self, folder, recipe, text, synth, environment):
        self.folder, self.recipe, self.text, self.environment = folder, recipe, text, environment
        self.synth = synth
        self.template = folder / "template"
        self.template.mkdir()
        self.prepare()
        self.whole = self.new_place("whole")
        self.run_command(self.whole)

    def new_place(self, name):
        place = self.folder / name
        shutil.rmtree(place, ignore_errors=True)
        return pathlib.Path(shutil.copytree(self.template, place))

    def settings(self, place):
        return changes([*SHORT, f"data.cache={place}/cache"])

    def started(self, place, **variables):
        """The command in a process."""
        command = [os.environ["SYNTH"], *map(str, self.command(place))]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, errors="replace",
                                env={**self.environment, **variables})  # fmt: skip

    def run_command(self, place):
        self.synth(*self.command(place))

    def prepare(self):
        """Fills the template."""

    def command(self, place):
        raise NotImplementedError

    def check_kept(self, place):
        """Right after the disturbance: what was there before is still there."""

    def go_on(self, place):
        """As a user does."""
        self.run_command(place)

    def check_whole(self, place):
        """The result is that of an undisturbed command."""
        raise NotImplementedError

    def check(self, place, done, tidy=True):
        """After a disturbance, whether the command has been `done` all the same or not. `tidy`: nothing may
        be left that it needed only while it ran."""
        self.check_kept(place)
        if not done:
            self.go_on(place)
        self.check_whole(place)
        if tidy:
            assert_tidy(place)


class Training(Scenario):
    """A new run. Tokenizes, as its cache is empty."""

    def command(self, place):
        return ["train", self.recipe, "--run", place / "run", *self.settings(place)]

    def go_on(self, place):
        if saved_step(place / "run"):
            self.synth("eval", place / "run", "--weights", "last", "--data", "dev")
            self.synth("train", "--run", place / "run", "--resume", "--set", "train.steps=4")
        else:
            shutil.rmtree(place / "run", ignore_errors=True)
            self.run_command(place)

    def check_whole(self, place):
        assert_same_run(place / "run", self.whole / "run")


class Resuming(Training):
    """A run that has saved at step 2."""

    def prepare(self):
        two = [*self.settings(self.template), "--set", "train.steps=2"]
        self.synth("train", self.recipe, "--run", self.template / "run", *two)

    def command(self, place):
        return ["train", "--run", place / "run", "--resume", *self.settings(place)]

    def check_kept(self, place):
        assert saved_step(place / "run") >= 2
        assert tensors.read(place / "run" / "model.safetensors")


class Tokenizing(Training):
    """A new run, most of whose time goes into a tokenizer and the tokens of a larger text."""

    def prepare(self):
        words = (self.text / "train.txt").read_text()
        (self.template / "train.txt").write_text(words * 40)

    def settings(self, place):
        more = [f"data.train={self.template}/train.txt", "data.tokenizer=bpe", "data.vocabulary=300"]
        return [*super().settings(place), *changes(more)]


class Averaging(Scenario):
    """The mean of two checkpoints, where there is one of another one already."""

    def prepare(self):
        self.synth("train", self.recipe, "--run", self.template / "run", *self.settings(self.template))
        self.synth("average", self.template / "run", "--last", "1")
        self.before = (self.template / "run" / "averaged.safetensors").read_bytes()

    def command(self, place):
        return ["average", place / "run", "--last", "2"]

    def check_kept(self, place):
        after = (self.whole / "run" / "averaged.safetensors").read_bytes()
        assert (place / "run" / "averaged.safetensors").read_bytes() in (self.before, after)
        tensors.same(
            place / "run" / "train_state.safetensors", self.whole / "run" / "train_state.safetensors"
        )

    def check_whole(self, place):
        averaged = [folder / "run" / "averaged.safetensors" for folder in (place, self.whole)]
        assert averaged[0].read_bytes() == averaged[1].read_bytes()


class Exporting(Averaging):
    """A smaller copy of a run."""

    def command(self, place):
        return ["export", place / "run", "--run", place / "small", "--quantize", "int8", "--threads", "1"]

    def check_kept(self, place):
        old, new = tensors.contents(self.template / "run"), tensors.contents(place / "run")
        assert {name: new.get(name) for name in old} == old

    def go_on(self, place):
        if not (place / "small" / "config.toml").exists():
            self.run_command(place)  # half an export is none, and in nobody's way

    def check_whole(self, place):
        made, wanted = (tensors.contents(folder / "small") for folder in (place, self.whole))
        assert set(made) - {".lock"} == set(wanted)  # assert_tidy looks for the lock
        for name in ["model.safetensors", "tokenizer.model"]:
            assert made[name] == wanted[name]
        self.synth("eval", place / "small", "--data", "dev")


class Comparing(Scenario):
    """Two runs are trained and compared."""

    def command(self, place):
        return ["compare", self.recipe, "--attention", "V,R", "--run", place / "all", *self.settings(place)]

    def check_whole(self, place):
        for attention in ["V", "R"]:
            assert_same_run(place / "all" / attention, self.whole / "all" / attention)
        assert scores_in_table(place / "all") == scores_in_table(self.whole / "all")
        for name in ["report.html", "table.md", "table.csv", "table.tex"]:
            assert (place / "all" / name).stat().st_size > 0


SCENARIOS = {
    "train": Training,
    "resume": Resuming,
    "tokenize": Tokenizing,
    "average": Averaging,
    "export": Exporting,
    "compare": Comparing,
}
