"""./run bench study: rows over several seeds, and the files in study/."""

import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import samples
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


def test_rows_are_compared_with_the_first_one_seed_by_seed(file, tmp_path):
    file.write_text(file.read_text().replace("seeds = [1, 2]", "seeds = [1, 2, 3]"))
    folder = tmp_path / "runs"
    lines = study(file, folder).stdout.splitlines()
    assert lines[0].split("|")[-2].strip() == "difference to the first row, paired"
    rows = json.loads((folder / "results.json").read_text())
    first, other = ([scores["loss"] for scores in rows[n]["scores"]] for n in (0, 2))
    a, b, c = (theirs - ours for theirs, ours in zip(other, first))
    mean = (a + b + c) / 3
    deviation = (((a - mean) ** 2 + (b - mean) ** 2 + (c - mean) ** 2) / 2) ** 0.5
    half = 4.303 * deviation / 3**0.5  # Student's t, 2 degrees of freedom
    found = re.fullmatch(r"([+−])([\d.]+) ± ([\d.]+)", lines[4].split("|")[-2].strip())
    assert abs(float(found[2]) - abs(mean)) <= 0.0005 and found[1] == ("+" if mean >= 0 else "−")
    assert abs(float(found[3]) - half) <= 0.0005 + half / 500
    assert lines[2].split("|")[-2].strip() == "–"
    # Without seed 2 of the first row, the others keep all their seeds and are compared on the rest.
    shutil.rmtree(folder / "V_seed=2")
    cells = study(file, folder, "--show").stdout.splitlines()[4].split("|")
    assert cells[3].strip() == "3"
    assert cells[-2].strip().replace("−", "-").startswith(f"{(a + c) / 2:+.3f} ± ")


def test_what_is_there_is_kept_and_what_is_missing_is_trained(file, tmp_path):
    folder = tmp_path / "runs"
    first = study(file, folder).stdout
    shutil.rmtree(folder / "R_logit_learning_rate=1_seed=2")
    kept = {path: path.stat().st_mtime_ns for path in folder.glob("*/model.safetensors")}
    assert "| R | train.logit_learning_rate 1 | 1 | " in study(file, folder, "--show").stdout
    again = study(file, folder)
    assert again.stdout == first
    assert again.stderr == "training R_logit_learning_rate=1_seed=2\n"
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_recorded_scores_stand_for_runs_that_are_gone(file, tmp_path):
    """study/recorded: what was trained elsewhere is not trained again, unless it is asked for."""
    folder = tmp_path / "runs"
    printed = study(file, folder, "--record").stdout
    record = tmp_path / "recorded/small.json"
    first = json.loads(record.read_text())
    assert list(first["runs"]) == sorted(path.name for path in folder.glob("*seed*"))
    assert first["runs"]["V_seed=1"].keys() == {"processor", "commit", "dev"}
    shutil.rmtree(folder)
    assert study(file, folder, "--show").stdout == printed
    del first["runs"]["V_seed=2"]
    record.write_text(json.dumps(first))
    again = study(file, folder)
    assert again.stderr == "training V_seed=2\n" and again.stdout == printed
    assert study(file, tmp_path / "other", "--anew").stderr.count("training ") == 6
    assert json.loads(record.read_text()) == first

    file.write_text(file.read_text().replace("train.steps=2", "train.steps=3"))
    done = study(file, tmp_path / "third", "--show", check=False)
    assert done.returncode == 1
    assert done.stderr == f"study: {record} is of other settings (set differ): use --anew, or delete it\n"


def test_a_start_that_saved_nothing_is_made_again(file, tmp_path):
    folder = tmp_path / "runs"
    first = study(file, folder).stdout
    run = folder / "V_seed=1"
    for path in run.iterdir():  # as a kill after the first file leaves it
        if path.name != "config.toml":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert study(file, folder).stdout == first


def test_runs_of_other_settings_are_refused(file, language_recipe, tmp_path):
    recipe = tmp_path / "own.toml"
    recipe.write_text(language_recipe.read_text())
    first = file.read_text().replace(str(language_recipe), str(recipe))
    file.write_text(first)
    folder = tmp_path / "runs"
    printed = study(file, folder).stdout
    kept = {path: path.read_bytes() for path in folder.glob("*/*") if path.is_file()}

    def refused(what):
        for more in [[], ["--show"]]:
            done = study(file, folder, *more, check=False)
            message = f"study: {folder / 'V_seed=1'} was trained with other settings ({what} of "
            assert done.returncode == 1 and done.stderr.startswith(message) and done.stderr.count("\n") == 1
            assert {path: path.read_bytes() for path in kept} == kept

    file.write_text(first.replace("train.steps=2", "train.steps=4"))
    refused("set")
    file.write_text(first)
    recipe.write_text(recipe.read_text().replace("dropout = 0.1", "dropout = 0.2"))
    refused("recipe")
    recipe.write_text("# The same settings.\n" + language_recipe.read_text())
    again = study(file, folder)
    assert again.stdout == printed and again.stderr == ""


def test_an_interrupted_run_of_other_settings_is_refused(file, tmp_path):
    """What was stopped has no study-settings.json yet; its own config.toml tells."""
    study(file, tmp_path / "complete")
    run = tmp_path / "runs" / "V_seed=1"
    shutil.copytree(tmp_path / "complete" / run.name, run)
    (run / "study-settings.json").unlink()
    assert study(file, run.parent, "--show", check=False).stderr == "study: no run is finished yet\n"
    file.write_text(file.read_text().replace('"train.steps=2"', '"train.steps=2", "model.width=8"'))
    done = study(file, run.parent, check=False)
    assert done.returncode == 1 and f"{run} was trained with another recipe" in done.stderr
    assert "model.width" in done.stderr and "Traceback" not in done.stderr
    assert not (run / "study-settings.json").exists()


def test_grids_of_words(file, tmp_path):
    grid = '{ "train.schedule" = ["constant", "cosine"], "model.bias" = [true], "model.dropout" = [0.05] }'
    file.write_text(file.read_text().replace('{ "train.logit_learning_rate" = [1, 30] }', grid))
    folder = tmp_path / "runs"
    lines = study(file, folder).stdout.splitlines()
    assert lines[4].startswith("| R | train.schedule cosine, model.bias true, model.dropout 0.05 | 2 | ")
    run = folder / "R_schedule=cosine_bias=true_dropout=0.05_seed=1"
    config = tomllib.loads((run / "config.toml").read_text())
    assert config["train"]["schedule"] == "cosine" and config["model"]["bias"] is True


@pytest.mark.parametrize(
    "words, message",
    [
        ("mesures = []", "unknown key mesures"),
        ('choose = { lowest = "loss" }', "choose and test need each other"),
        ('choose = { best = "loss" }\ntest = []', "choose is { highest"),
        ("held_out = { from = 'train.txt', rows = 9999, test = 'dev.txt' }", "held_out.rows is 9999"),
        ("[[rows]]\nattention = ['V']", "two rows have the name V_seed=1"),
        ("[[rows]]\nattention = 'R'", "attention of [[rows]] must be a list of one text or more"),
        ("[[rows]]\nattention = ['D']\ngird = {}", "unknown key gird in [[rows]]"),
        ("[[rows]]\nattention = ['D']\ngrid = { seed = 1 }", "grid of [[rows]] must be a table of lists"),
        ("average = 1", "average must be true or false"),
        ("held_out = { from = 'train.txt', rows = 1 }", "held_out is { from = "),
        ('measures = ["perplexity"]', "there is no measure perplexity: there are loss\n"),
        ('choose = { lowest = "loos" }\ntest = []', "there is no measure loos: "),
        ("measures = []", "measures must be a list of one text or more"),
    ],
)
def test_files_that_cannot_be_done(file, tmp_path, words, message):
    text = file.read_text()
    file.write_text(text + words if words.startswith("[[") else f"{words}\n{text}")
    done = study(file, tmp_path / "runs", check=False)
    assert done.returncode == 1 and done.stderr.startswith(f"study: {message}")
    assert done.stderr.count("\n") == 1 and not list((tmp_path / "runs").glob("*seed*"))


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("seeds = [1, 2]", "seeds = [1, 2, 1]", "seed 1 is given twice: one run would count as two"),
        ("seeds = [1, 2]", "seeds = []", "the file has no seeds"),
        ("seeds = [1, 2]", "seeds = 2", "seeds must be a list of whole numbers"),
        ("seeds = [1, 2]", "seeds = [1, true]", "seeds must be a list of whole numbers"),
        ("seeds = [1, 2]", "", "the file has no seeds"),
        ("seeds = [1, 2]", "seeds = [1, 2", "small.toml is not TOML: "),
        ("recipe = ", "# ", "the file has no recipe"),
        ("recipe = ", 'recipe = "none.toml" # ', "none.toml cannot be read: No such file or directory\n"),
        ("recipe = ", 'recipe = "text.txt" # ', "text.txt is not TOML: "),
        ("train.steps=2", "train.steps=few", "train.steps=few is no number of steps"),
    ],
)
def test_mistakes_in_files(file, tmp_path, old, new, message):
    (tmp_path / "text.txt").write_text("Good night.\n")
    file.write_text(file.read_text().replace(old, new))
    refused(study(file, tmp_path / "runs", check=False), message)
    assert not (tmp_path / "runs").exists()


def refused(done, message):
    assert done.returncode == 1 and done.stdout == "" and "Traceback" not in done.stderr, done.stderr
    assert done.stderr.startswith("study: ") and done.stderr.count("\n") == 1
    assert message in done.stderr


def test_what_cannot_be_read_made_or_started(file, tmp_path):
    refused(study(tmp_path / "none.toml", tmp_path / "runs", check=False), "none.toml cannot be read: ")
    refused(study(file, file, check=False), "small.toml cannot be made: File exists")
    for jobs in [0, -1]:
        refused(study(file, tmp_path / "runs", "--jobs", jobs, check=False), f"--jobs is {jobs}: ")
    file.write_text(file.read_text().partition("[[rows]]")[0])
    refused(study(file, tmp_path / "runs", check=False), "the file has no rows")


@pytest.mark.parametrize(
    "old, new",
    [('measures = ["loss", "accuracy"]', 'measures = ["acuracy"]'), ('lowest = "loss"', 'highest = "f1"')],
)
def test_an_unknown_measure_ends_it_after_the_first_run(tmp_path, old, new):
    samples.labelled(tmp_path / "data", 2)
    (tmp_path / "recipe.toml").write_text(CLASSIFICATION)
    file, folder = tmp_path / "choosing.toml", tmp_path / "runs"
    file.write_text(CHOOSING.replace(old, new))
    done = study(file, folder, "--data", tmp_path / "data", check=False)
    assert done.returncode == 1
    training, message = done.stderr.splitlines()
    assert training.startswith("training ") and message.startswith("study: there is no measure ")
    assert "accuracy" in message and "loss" in message and len(list(folder.glob("*seed*"))) == 1
    refused(study(file, folder, "--show", check=False), "there is no measure ")
    file.write_text(CHOOSING)  # the run is kept
    assert "| 1 | " in study(file, folder, "--show").stdout


def test_an_unknown_measure_on_test(tmp_path):
    samples.labelled(tmp_path / "data", 2)
    (tmp_path / "recipe.toml").write_text(CLASSIFICATION)
    file, folder = tmp_path / "choosing.toml", tmp_path / "runs"
    file.write_text('test_measures = ["rouge1"]\n' + CHOOSING.replace('["V", "R"]', '["V"]'))
    done = study(file, folder, "--data", tmp_path / "data", check=False)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("study: there is no measure rouge1: ")


@pytest.mark.parametrize("name", ["train.tsv.gz", "dev.tsv.gz"])
def test_held_out_lines_without_the_data(tmp_path, name):
    samples.labelled(tmp_path / "data", 2)
    (tmp_path / "recipe.toml").write_text(CLASSIFICATION)
    (tmp_path / "choosing.toml").write_text(CHOOSING)
    (tmp_path / "data" / name).unlink()
    for data in [[], ["--data", tmp_path / "data"], ["--data", tmp_path / "none"]]:
        done = study(tmp_path / "choosing.toml", tmp_path / "runs", *data, check=False)
        refused(done, "give the folder of the recipe's data with --data")
    (tmp_path / "data" / name).write_text("not gzip")
    if name == "train.tsv.gz":
        data = ["--data", tmp_path / "data"]
        done = study(tmp_path / "choosing.toml", tmp_path / "runs", *data, check=False)
        refused(done, "train.tsv.gz is a damaged gzip file")


def test_paths_are_those_of_the_caller(tmp_path):
    """./run changes to the folder of the repository and says where it was called."""
    samples.labelled(tmp_path / "data", 2)
    (tmp_path / "recipe.toml").write_text(CLASSIFICATION)
    one = CHOOSING.replace('["V", "R"]', '["V"]').replace("[1e-2, 1e-9]", "[1e-2]").replace("[1, 2]", "[1]")
    (tmp_path / "choosing.toml").write_text(one)
    command = [sys.executable, ROOT / "bench/study.py", "choosing.toml", "--folder", "here", "--data", "data"]
    done = subprocess.run([*map(str, command), "--threads", "1"], capture_output=True, text=True, check=False,
                          cwd=ROOT, env={**os.environ, "CALLER": str(tmp_path)})  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "here/table.md").read_text() == done.stdout and not (ROOT / "here").exists()


CLASSIFICATION = """
task = "classification"
[data]
train = "train.tsv.gz"
dev = "dev.tsv.gz"
tokenizer = "characters"
vocabulary = 0
too_long = "truncate"
[model]
width = 16
heads = 2
layers = 1
feed_forward = 16
max_length = 32
[train]
batch_tokens = 512
schedule = "constant"
warmup = 1
"""

CHOOSING = """
recipe = "recipe.toml"
seeds = [1, 2]
set = ["train.steps=2"]
held_out = { from = "train.tsv.gz", rows = 50, test = "dev.tsv.gz" }
eval = ["--data", "dev", "--weights", "last"]
measures = ["loss", "accuracy"]
choose = { lowest = "loss" }
test = ["--data", "test", "--weights", "last"]
[[rows]]
attention = ["V", "R"]
grid = { "train.learning_rate" = [1e-2, 1e-9] }
"""


def test_rows_are_chosen_on_held_out_lines_and_tested_once(tmp_path):
    samples.labelled(tmp_path / "data", 2)
    (tmp_path / "recipe.toml").write_text(CLASSIFICATION)
    file, folder = tmp_path / "choosing.toml", tmp_path / "runs"
    file.write_text(CHOOSING)
    printed = study(file, folder, "--data", tmp_path / "data", "--jobs", 2).stdout

    def lines(path):
        return gzip.decompress(path.read_bytes()).decode().splitlines()

    train, dev = (lines(folder / "data" / f"{name}.tsv.gz") for name in ("train", "dev"))
    assert len(dev) == 50 and not set(train) & set(dev)
    assert sorted(train + dev) == sorted(lines(tmp_path / "data/train.tsv.gz"))
    config = tomllib.loads((folder / "V_learning_rate=0.01_seed=1/config.toml").read_text())
    assert config["data"]["test"] == str(tmp_path / "data/dev.tsv.gz")

    rows = json.loads((folder / "results.json").read_text())
    for attention in ["V", "R"]:
        own = [row for row in rows if row["attention"] == attention]
        means = [sum(scores["loss"] for scores in row["scores"]) for row in own]
        assert ["test" in row for row in own] == [mean == min(means) for mean in means]
    tested = [folder / name / "study-test.json" for row in rows if "test" in row for name in row["runs"]]
    assert sorted(folder.glob("*/study-test.json")) == sorted(tested) and len(tested) == 4
    assert all(scores["examples"] == 40 for row in rows for scores in row.get("test", []))
    head, _, test = printed.partition("\nOn test, of each attention the row that dev chose:\n\n")
    assert len(head.splitlines()) == 6
    assert [line.split("|")[1].strip() for line in test.splitlines()[2:]] == ["V", "R"]

    written = [path.stat().st_mtime_ns for path in tested]
    assert study(file, folder, "--data", tmp_path / "data").stdout == printed
    assert [path.stat().st_mtime_ns for path in tested] == written

    # Recorded, the scores of both sets outlive the runs; a run whose test score is missing is trained for it.
    other = tmp_path / "other"
    assert study(file, other, "--data", tmp_path / "data", "--record").stdout == printed
    shutil.rmtree(other)
    assert study(file, other, "--show").stdout == printed
    record = tmp_path / "recorded/choosing.json"
    content = json.loads(record.read_text())
    name = tested[0].parent.name
    del content["runs"][name]["test"]
    record.write_text(json.dumps(content))
    again = study(file, other, "--data", tmp_path / "data", "--record")
    assert again.stdout == printed and again.stderr == f"training {name}\n"
    assert "test" in json.loads(record.read_text())["runs"][name]
    record.unlink()
    # Until every row has all its seeds, nothing is chosen.
    shutil.rmtree(folder / "R_learning_rate=1e-09_seed=2")
    assert "On test" not in study(file, folder, "--show").stdout


def test_lines_of_a_table_with_a_header_are_not_held_out(tmp_path):
    samples.labelled(tmp_path / "data", 2)
    recipe = CLASSIFICATION.replace("[data]", '[data]\ncolumns = ["label", "text"]')
    (tmp_path / "recipe.toml").write_text(recipe)
    (tmp_path / "choosing.toml").write_text(CHOOSING)
    done = study(tmp_path / "choosing.toml", tmp_path / "runs", "--data", tmp_path / "data", check=False)
    assert done.returncode == 1 and done.stderr.startswith("study: held_out does not go with data.columns")


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
def test_the_files_of_the_study(synth, tmp_path, path):
    """Each row is a model that the recipe can have."""
    content = tomllib.loads(path.read_text())
    assert len(content["seeds"]) >= 2
    shown = study(path, tmp_path, "--show", check=False)
    recorded = path.parent / "recorded" / f"{path.stem}.json"
    assert (shown.returncode == 0) if recorded.exists() else "no run is finished yet" in shown.stderr
    recipe = path.parent / content["recipe"]
    sizes = ["data.vocabulary=1000"]  # without the data
    if tomllib.loads(recipe.read_text())["task"] == "classification":
        sizes.append('data.labels=["one", "other"]')
    for block in content["rows"]:
        settings = [f"{key}={values[-1]}" for key, values in block.get("grid", {}).items()]
        for attention in block["attention"]:
            given = [*content["set"], *settings, *sizes, f"model.attention={attention}"]
            synth("params", recipe, *changes(given))


def test_the_readme_counts_the_runs():
    stated = {}
    for line in (ROOT / "study/README.md").read_text().splitlines():
        if names := re.findall(r"`([\w-]+)\.toml`", line.split("|")[1] if line.startswith("|") else ""):
            stated |= zip(names, map(int, line.split("|")[3].split(",")))
    counted = {}
    for path in STUDIES:
        content = tomllib.loads(path.read_text())
        rows = 0
        for block in content["rows"]:
            choices = len(block["attention"])
            for values in block.get("grid", {}).values():
                choices *= len(values)
            rows += choices
        counted[path.stem] = rows * len(content["seeds"])
    assert stated == counted
