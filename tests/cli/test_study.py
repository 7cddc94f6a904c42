"""./run bench study: rows over several seeds, and the files in study/."""

import json
import pathlib
import shutil
import subprocess
import sys

import pytest
import tomllib
from program import changes, wait_until
from runs import saved_step

ROOT = pathlib.Path(__file__).resolve().parents[2]
STUDIES = sorted((ROOT / "study").glob("*.toml"))


def study(file, folder, *more, check=True):
    """Runs it; what it prints."""
    command = [sys.executable, ROOT / "bench" / "study.py", file, "--folder", folder, "--threads", 1, *more]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, done.stderr
    return done


@pytest.fixture
def file(language_recipe, tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(
        f'recipe = "{language_recipe}"\nseeds = [1, 2]\nset = ["train.steps=2"]\n'
        '[[rows]]\nattention = ["V"]\n'
        '[[rows]]\nattention = ["R"]\ngrid = { "train.logit_learning_rate" = [1, 30] }\n'
    )
    return path


def test_rows_are_means_over_seeds(file, tmp_path):
    folder = tmp_path / "runs"
    printed = study(file, folder, "--jobs", 2).stdout
    assert printed == (folder / "table.md").read_text()
    assert [line.split("|")[1].strip() for line in printed.splitlines()[2:]] == ["V", "R", "R"]
    rows = json.loads((folder / "results.json").read_text())
    losses = [scores["loss"] for scores in rows[2]["scores"]]
    assert len(losses) == 2 and losses[0] != losses[1]
    assert f"| {sum(losses) / 2:.3f} ± " in printed.splitlines()[4]


def test_what_is_there_is_kept_and_what_is_missing_is_trained(file, tmp_path):
    folder = tmp_path / "runs"
    first = study(file, folder).stdout
    shutil.rmtree(folder / "R_logit_learning_rate=1_seed=2")
    kept = {path: path.stat().st_mtime_ns for path in folder.glob("*/model.safetensors")}
    assert "| R | train.logit_learning_rate 1 | 1 | " in study(file, folder, "--show").stdout
    again = study(file, folder)
    assert again.stdout == first
    assert again.stderr.count("row ") == 1
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_a_start_that_saved_nothing_is_made_again(file, tmp_path):
    folder = tmp_path / "runs"
    first = study(file, folder).stdout
    run = folder / "V_seed=1"
    for path in run.iterdir():  # as a kill after the first file leaves it
        if path.name != "config.toml":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert study(file, folder).stdout == first


def test_steps_that_are_not_fixed(file, tmp_path):
    file.write_text(file.read_text().replace('"train.steps=2"', ""))
    done = study(file, tmp_path / "runs", check=False)
    assert done.returncode == 1 and done.stderr.startswith("study: the file sets no train.steps")


def test_a_row_that_fails_ends_it(file, tmp_path):
    file.write_text(file.read_text().replace('"V"', '"X"'))
    done = study(file, tmp_path / "runs", "--jobs", 2, check=False)
    assert done.returncode != 0 and "synth: error: " in done.stderr


def test_a_signal_reaches_what_trains(file, tmp_path):
    file.write_text(file.read_text().replace("steps=2", "steps=1000000"))
    folder = tmp_path / "runs"
    command = [sys.executable, ROOT / "bench" / "study.py", file, "--folder", folder, "--threads", "1"]
    process = subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True)
    run = folder / "V_seed=1"
    wait_until(process, (run / "train_state.safetensors").exists)
    process.terminate()
    assert process.wait(60) != 0
    assert saved_step(run) > 0 and not (run / ".lock").exists()


@pytest.mark.parametrize("path", STUDIES, ids=[path.stem for path in STUDIES])
def test_the_files_of_the_study(synth, path):
    """Each row is a model that the recipe can have."""
    content = tomllib.loads(path.read_text())
    assert len(content["seeds"]) >= 2
    recipe = path.parent / content["recipe"]
    sizes = ["data.vocabulary=1000"]  # without the data
    if tomllib.loads(recipe.read_text())["task"] == "classification":
        sizes.append('data.labels=["one", "other"]')
    for block in content["rows"]:
        settings = [f"{key}={values[-1]}" for key, values in block.get("grid", {}).items()]
        for attention in block["attention"]:
            given = [*content["set"], *settings, *sizes, f"model.attention={attention}"]
            synth("params", recipe, *changes(given))
