"""A run is resumed with the data it was trained on; with others only where the user says so, on record."""

import json
import pathlib
import shutil

import pytest
import tensors
from program import changes


@pytest.fixture
def run(train, language_recipe, text, tmp_path):
    """A run of four steps on texts of its own, to be changed; and its recipe."""
    shutil.copytree(text, tmp_path / "text")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(pathlib.Path(language_recipe).read_text().replace(str(text), str(tmp_path / "text")))
    return train(recipe, tmp_path / "run"), recipe, tmp_path / "text"


def record(run):
    return json.loads((run / "run.json").read_text())


@pytest.mark.parametrize("name", ["train.txt", "dev.txt"])
def test_changed_data_are_refused(mistake, run, name):
    folder, recipe, text = run
    with (text / name).open("a") as file:
        file.write("more\n")
    before = tensors.contents(folder)
    more = changes(["train.steps=8"])
    words = [text / name, folder, "--accept-changed-data"]
    mistake("train", recipe, "--run", folder, "--resume", *more, words=words)
    mistake("train", "--run", folder, "--resume", *more, words=words)
    assert tensors.contents(folder) == before


def test_accepted_changes_are_on_record(synth, run):
    folder, recipe, text = run
    old = record(folder)["data"]
    path = str(text / "train.txt")
    with (text / "train.txt").open("a") as file:
        file.write("And so, good night.\n")
    resume = ["train", recipe, "--run", folder, "--resume"]
    synth(*resume, "--accept-changed-data", *changes(["train.steps=8"]))
    now = record(folder)
    (change,) = now["changed_data"]
    assert change["step"] == 4 and change["file"] == path
    assert change["before"] == old[path] and change["after"] == now["data"][path] != old[path]
    assert tensors.metadata(folder / "train_state.safetensors")["step"] == "8"
    # From here on the new contents are the run's own.
    synth(*resume, *changes(["train.steps=9"]))
    assert len(record(folder)["changed_data"]) == 1


def test_unchanged_data_leave_the_record_alone(synth, run):
    folder, recipe, _ = run
    before = (folder / "run.json").read_bytes()
    synth("train", recipe, "--run", folder, "--resume", "--accept-changed-data", *changes(["train.steps=6"]))
    assert (folder / "run.json").read_bytes() == before


def test_there_is_nothing_to_accept_in_a_new_run(mistake, language_recipe, tmp_path):
    mistake("train", language_recipe, "--run", tmp_path / "run", "--accept-changed-data", words=["--resume"])
    assert not (tmp_path / "run").exists()


DAMAGED = {"torn": '{"command": ["synth"', "a list": "[]", "no hashes": "{}", "numbers": '{"data": {"a": 1}}'}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_record_is_noticed_before_the_training(mistake, copy, language_recipe, kind):
    (copy / "run.json").write_text(DAMAGED[kind])
    before = tensors.contents(copy)
    mistake("train", language_recipe, "--run", copy, "--resume", *changes(["train.steps=8"]),
            words=[copy / "run.json", "damaged"])  # fmt: skip
    assert tensors.contents(copy) == before
