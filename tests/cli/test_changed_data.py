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


def test_the_same_data_may_have_moved(synth, mistake, run):
    folder, _, text = run
    moved = text.rename(text.parent / "elsewhere")
    resume = ["train", "--run", folder, "--resume", *changes(["train.steps=8", f"data.root={moved}"])]
    synth(*resume)
    assert tensors.metadata(folder / "train_state.safetensors")["step"] == "8"
    with (moved / "train.txt").open("a") as file:
        file.write("more\n")
    mistake(*resume, words=[moved / "train.txt", "--accept-changed-data"])


def test_unchanged_data_leave_the_record_alone(synth, run):
    folder, recipe, _ = run
    before = (folder / "run.json").read_bytes()
    synth("train", recipe, "--run", folder, "--resume", "--accept-changed-data", *changes(["train.steps=6"]))
    assert (folder / "run.json").read_bytes() == before


@pytest.fixture
def sharded(train, language_recipe, text, tmp_path):
    """A run of four steps on a text in three files, with its recipe and its data."""
    data = tmp_path / "data"
    data.mkdir()
    lines = (text / "train.txt").read_text().splitlines(keepends=True)
    for n in range(3):
        (data / f"part-{n}.txt").write_text("".join(lines[n * 200 : (n + 1) * 200]))
    shutil.copy(text / "dev.txt", data)
    recipe = tmp_path / "sharded.toml"
    source = pathlib.Path(language_recipe).read_text()
    recipe.write_text(source.replace(str(text), str(data)).replace("train.txt", "part-*.txt"))
    return train(recipe, tmp_path / "run"), recipe, data


def remove(data):
    (data / "part-1.txt").unlink()


def reorder(data):
    (data / "part-0.txt").rename(data / "part-8.txt")


def duplicate(data):
    shutil.copy(data / "part-0.txt", data / "part-4.txt")


def as_before_stores(run):
    """run.json as earlier versions wrote it."""
    known = record(run)
    del known["stores"]
    (run / "run.json").write_text(json.dumps(known))


@pytest.mark.parametrize("change", [remove, reorder, duplicate])
def test_other_files_are_refused(mistake, synth, sharded, change):
    folder, recipe, data = sharded
    old = record(folder)
    change(data)
    before = tensors.contents(folder)
    resume = ["train", recipe, "--run", folder, "--resume", *changes(["train.steps=8"])]
    words = ["data.train", folder, "in another order", "--accept-changed-data"]
    mistake(*resume, words=words)
    assert tensors.contents(folder) == before
    synth(*resume, "--accept-changed-data")
    now = record(folder)
    names = sorted(str(file) for file in [*data.glob("part-*.txt"), data / "dev.txt"])
    assert sorted(now["data"]) == names
    assert now["stores"]["train"] != old["stores"]["train"] and now["stores"]["dev"] == old["stores"]["dev"]
    assert all(entry["step"] == 4 for entry in now["changed_data"])
    assert {entry["file"]: (entry["before"], entry["after"]) for entry in now["changed_data"]} == {
        path: (old["data"].get(path, ""), now["data"].get(path, ""))
        for path in {*old["data"], *now["data"]}
        if old["data"].get(path) != now["data"].get(path)
    }
    # From here on these files are the run's own.
    synth("train", recipe, "--run", folder, "--resume", *changes(["train.steps=9"]))


def test_a_folder_with_another_name_changes_nothing(synth, sharded):
    folder, _, data = sharded
    before = (folder / "run.json").read_bytes()
    moved = data.rename(data.with_name("moved"))
    config = folder / "config.toml"
    config.write_text(config.read_text().replace(str(data), str(moved)))
    synth("train", "--run", folder, "--resume", *changes(["train.steps=6"]))
    assert (folder / "run.json").read_bytes() == before


@pytest.mark.parametrize("change", [remove, duplicate])
def test_other_files_than_a_run_of_an_earlier_version_had(mistake, synth, sharded, change):
    folder, recipe, data = sharded
    stores = record(folder)["stores"]
    as_before_stores(folder)
    resume = ["train", recipe, "--run", folder, "--resume"]
    synth(*resume, *changes(["train.steps=6"]))
    assert record(folder)["stores"] == stores  # from now on
    as_before_stores(folder)
    change(data)
    mistake(*resume, *changes(["train.steps=8"]), words=["data.train or data.dev", "--accept-changed-data"])
    synth(*resume, *changes(["train.steps=8"]), "--accept-changed-data")
    assert len(record(folder)["stores"]["train"]) == 1
    synth(*resume, *changes(["train.steps=9"]))


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
