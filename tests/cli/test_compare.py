"""Attentions side by side: trained once, measured alike, as a table in every form and as a page."""

import csv
import io
import json
import os
import shutil
import signal
import time

import pytest
import tensors
from program import alive, changes, children_of, metrics, wait_until


@pytest.fixture(scope="module")
def compared(synth, language_recipe, tmp_path_factory):
    """Three attention variants on a little text, and what the program said."""
    folder = tmp_path_factory.mktemp("compared") / "all"
    done = synth("compare", language_recipe, "--attention", "V, R,R+V", "--run", folder)
    return folder, done


@pytest.fixture(scope="module")
def translations(synth, translation_recipe, numbers, tmp_path_factory):
    folder = tmp_path_factory.mktemp("translations") / "all"
    settings = ['data.test=["test.en", "test.de"]', "train.steps=40", "decode.beam=1"]
    synth("compare", translation_recipe, "--attention", "V,D", "--run", folder, *changes(settings))
    return folder


def rows_of(folder):
    return json.loads((folder / "table.json").read_text())["rows"]


def test_each_attention_is_trained_as_by_itself(train, language_recipe, compared, tmp_path):
    folder, _ = compared
    alone = train(language_recipe, tmp_path / "alone", "model.attention=R")
    tensors.same(folder / "R" / "model.safetensors", alone / "model.safetensors")
    assert metrics(folder / "R", "dev") == metrics(alone, "dev")


def test_the_table(synth, compared):
    folder, done = compared
    rows = rows_of(folder)
    assert [row["attention"] for row in rows] == ["V", "R", "R+V"]
    for row in rows:
        found = json.loads(synth("eval", folder / row["attention"], "--json").stdout)
        assert row["perplexity"]["value"] == pytest.approx(found["perplexity"])
        assert row["seconds"]["value"] > 0 and row["peak_memory_bytes"]["value"] > 10e6
    assert rows[0]["parameters"]["value"] > rows[1]["parameters"]["value"] - 2 * 16 * 16
    lines = done.stdout.splitlines()
    assert "perplexity" in lines[0] and any(line.startswith("R+V") for line in lines)


def test_every_form_has_the_same_rows(compared, synth):
    folder, _ = compared
    table = list(csv.DictReader(io.StringIO((folder / "table.csv").read_text())))
    assert [row["attention"] for row in table] == ["V", "R", "R+V"]
    for row, other in zip(table, rows_of(folder)):
        assert float(row["perplexity"]) == pytest.approx(other["perplexity"]["value"])
    assert (folder / "table.md").read_text().count("\n| ") >= 3
    assert "\\toprule" in (folder / "table.tex").read_text()
    runs = [folder / name for name in ["V", "R", "R+V"]]
    again = synth("compare", *runs, "--run", folder, "--format", "markdown").stdout
    assert again == (folder / "table.md").read_text()
    assert json.loads(synth("compare", *runs, "--run", folder, "--json").stdout)["rows"] == rows_of(folder)


def test_the_page_has_all_of_it(compared):
    page = (compared[0] / "report.html").read_text(encoding="utf-8")
    assert "<html" in page and "R+V" in page
    assert 'src="http' not in page and 'href="http' not in page, "it opens offline"


def test_what_is_finished_is_not_trained_again(synth, language_recipe, compared):
    folder, _ = compared
    before = tensors.contents(folder / "R")
    done = synth("compare", language_recipe, "--attention", "R,V", "--run", folder)
    assert done.stderr.count("finished before") == 2
    assert tensors.contents(folder / "R") == before
    assert [row["attention"] for row in rows_of(folder)] == ["R", "V"]


def test_more_steps_go_on_from_there(synth, train, language_recipe, compared, tmp_path):
    folder = shutil.copytree(compared[0], tmp_path / "copy")
    synth("compare", language_recipe, "--attention", "R", "--run", folder, "--set", "train.steps=8")
    whole = train(language_recipe, tmp_path / "whole", "model.attention=R", "train.steps=8")
    tensors.same(folder / "R" / "model.safetensors", whole / "model.safetensors")


@pytest.fixture
def own_data(synth, language_recipe, text, tmp_path):
    """A comparison of one run on texts of its own, to be changed: the command, its folder and the texts."""
    texts = shutil.copytree(text, tmp_path / "text")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(language_recipe.read_text().replace(str(text), str(texts)))
    command = ["compare", recipe, "--attention", "R", "--run", tmp_path / "all"]
    synth(*command)
    return command, tmp_path / "all", texts


@pytest.mark.parametrize("name", ["train.txt", "dev.txt"])
def test_a_finished_run_of_other_data_is_refused(synth, mistake, own_data, name):
    """As `synth train --resume` does: a row of the old data would stand beside rows of the new."""
    command, folder, texts = own_data
    with (texts / name).open("a") as file:
        file.write("And so, good night.\n")
    before = tensors.contents(folder)
    words = [texts / name, folder / "R", "changed", "--accept-changed-data"]
    mistake(*command, words=words)
    mistake(*command, "--set", "train.steps=8", words=words)
    assert tensors.contents(folder) == before
    # What the message advises.
    synth("train", "--run", folder / "R", "--resume", "--accept-changed-data")
    assert "finished before" in synth(*command).stderr


def test_nothing_is_trained_beside_a_run_of_other_data(mistake, own_data):
    command, folder, texts = own_data
    (texts / "train.txt").write_text("another text\n" * 40)
    more = ["V,R" if word == "R" else word for word in command]
    mistake(*more, words=[texts / "train.txt", folder / "R"])
    assert not (folder / "V").exists()


def test_a_finished_run_does_not_need_its_training_data(synth, own_data):
    command, _, texts = own_data
    (texts / "train.txt").unlink()
    assert "finished before" in synth(*command).stderr


def test_further_references_are_no_training_data(synth, translation_recipe, numbers, tmp_path):
    texts = shutil.copytree(numbers, tmp_path / "numbers")
    shutil.copy(texts / "dev.de", texts / "dev2.de")
    with (texts / "dev2.de").open() as file:
        lines = file.readlines()
    (texts / "dev2.de").write_text("".join(["null\n", *lines[1:]]))
    settings = [f"data.root={texts}", 'data.dev=["dev.en", "dev.de", "dev2.de"]', "decode.beam=1"]
    command = ["compare", translation_recipe, "--attention", "R", "--run", tmp_path / "all"]
    synth(*command, *changes(settings))
    assert "finished before" in synth(*command, *changes(settings)).stderr


def test_what_a_kill_after_the_last_checkpoint_left_undone_is_done(synth, language_recipe, tmp_path):
    command = ("compare", language_recipe, "--attention", "V", "--run", tmp_path / "all")
    synth(*command)
    run = tmp_path / "all" / "V"
    report = (run / "report.html").read_bytes()
    (run / "report.html").rename(run / "report.html.tmp123")
    (run / ".lock").write_text("123 synth train\n")
    synth(*command)
    assert (run / "report.html").read_bytes() == report
    assert not (run / "report.html.tmp123").exists() and not (run / ".lock").exists()


def test_an_interrupted_comparison_goes_on(synth, started, language_recipe, train, tmp_path):
    long = changes(["train.steps=400", "train.save_every=20", "train.eval_every=200"])
    command = ["compare", language_recipe, "--attention", "V,R", "--run", tmp_path / "all", *long]
    process = started(*command)
    assert wait_until(process, lambda: (tmp_path / "all" / "V" / "train_state.safetensors").exists())
    trainings = children_of(process)
    process.send_signal(signal.SIGKILL)  # the training ends with who started it, a moment later
    process.wait()
    while any(map(alive, trainings)):
        time.sleep(0.005)
    done = synth(*command, timeout=300, ok=False)
    assert done.returncode == 0, done.stderr
    whole = train(language_recipe, tmp_path / "whole", "model.attention=R", "train.steps=400",
                  "train.save_every=20", "train.eval_every=200")  # fmt: skip
    tensors.same(tmp_path / "all" / "R" / "model.safetensors", whole / "model.safetensors")


def test_several_at_a_time(synth, language_recipe, train, tmp_path):
    """The same runs as one after the other, with the threads that a share of the cores gives."""
    done = synth(
        "compare", language_recipe, "--attention", "V,R,Fix", "--jobs", "2", "--run", tmp_path / "all"
    )
    assert [row["attention"] for row in rows_of(tmp_path / "all")] == ["V", "R", "Fix"]
    lines = done.stderr.splitlines()
    for title in ["1/3 V: step ", "2/3 R: step ", "3/3 Fix: step "]:
        assert any(line.startswith(title) for line in lines), done.stderr
    threads = json.loads((tmp_path / "all" / "V" / "run.json").read_text())["threads"]
    assert threads == max(1, len(os.sched_getaffinity(0)) // 2)
    alone = train(language_recipe, tmp_path / "alone", "model.attention=R", f"train.threads={threads}")
    tensors.same(tmp_path / "all" / "R" / "model.safetensors", alone / "model.safetensors")


def test_scores_of_texts_have_intervals_and_a_test(translations):
    first, second = rows_of(translations)
    for key in ["bleu", "chrf", "exact_match"]:
        for score in (first[key], second[key]):
            assert score["low"] <= score["value"] <= score["high"] or score["value"] == 0
        assert "p" not in first[key] and 0 < second[key]["p"] <= 1
    assert first["decode_tokens_per_second"]["value"] > 0


def test_what_was_found_is_kept_until_it_changes(synth, translations, tmp_path):
    run = shutil.copytree(translations / "V", tmp_path / "V")
    kept = run / "evaluation.json"
    found = json.loads(kept.read_text())
    found["found"]["written"][0] = "no such number"
    kept.write_text(json.dumps(found))
    synth("compare", run, translations / "D", "--run", tmp_path / "one")
    assert json.loads(kept.read_text())["found"]["written"][0] == "no such number"
    synth("compare", run, translations / "D", "--run", tmp_path / "two", "--data", "dev")
    assert json.loads(kept.read_text())["found"]["written"][0] != "no such number"


def test_seeds(synth, language_recipe, tmp_path):
    synth("compare", language_recipe, "--attention", "R,Fix", "--seeds", "2", "--run", tmp_path / "all")
    assert {path.name for path in (tmp_path / "all").iterdir() if path.is_dir()} == {
        "R-seed1", "R-seed2", "Fix-seed1", "Fix-seed2"}  # fmt: skip
    rows = rows_of(tmp_path / "all")
    assert [row["attention"] for row in rows] == ["R", "Fix"]
    dev = [metrics(tmp_path / "all" / f"R-seed{n}", "dev")[-1]["loss"] for n in (1, 2)]
    assert rows[0]["loss"]["value"] == pytest.approx(sum(dev) / 2)
    assert rows[0]["loss"]["spread"] == pytest.approx(abs(dev[0] - dev[1]) / 2**0.5)
    assert rows[0]["seeds"]["value"] == 2


@pytest.mark.parametrize(
    "recipe, settings, paper",
    [
        ("ag-news", [], 88.83),
        ("imdb", [], 81.34),
        ("imdb", ["data.tokenizer=bytes"], None),
        ("imdb", ["model.recurrent_depth=2"], None),
        ("imdb-bytes", [], None),
        ("listops", [], None),
    ],
)
def test_published_figures_are_of_the_same_data(synth, labelled, tmp_path, recipe, settings, paper):
    path = shutil.copy(labelled, tmp_path / f"{recipe}.toml")
    settings = changes(["train.steps=1", "model.max_length=32", *settings])
    synth("compare", path, "--attention", "V", "--run", tmp_path / "all", *settings)
    (row,) = rows_of(tmp_path / "all")
    assert row["accuracy"].get("paper") == paper
    assert ("the paper's figures" in (tmp_path / "all/table.md").read_text()) == (paper is not None)


MISTAKES = {
    "unknown": (["--attention", "V,Q"], ["Q"]),
    "twice": (["--attention", "V,R,V"], ["V", "twice"]),
    "empty": (["--attention", "V,,R"], ["--attention", "nothing"]),
    "none": ([], ["--attention is missing", "V,D,R,R+V"]),
    "seeds": (["--attention", "V", "--seeds", "0"], ["--seeds", "0"]),
    "jobs": (["--attention", "V", "--jobs", "0"], ["--jobs", "0"]),
    "key": (["--attention", "V", "--set", "train.stepps=3"], ["stepps", "did you mean"]),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(mistake, language_recipe, tmp_path, case):
    arguments, words = MISTAKES[case]
    mistake("compare", language_recipe, "--run", tmp_path / "all", *arguments, words=words)
    assert not (tmp_path / "all").exists()


def test_runs_of_different_tasks(mistake, language_run, numbers_run, tmp_path):
    words = [language_run.name, numbers_run.name, "language-model", "translation"]
    mistake("compare", language_run, numbers_run, "--run", tmp_path / "all", words=words)


def test_runs_of_different_data(mistake, train, language_run, language_recipe, text, tmp_path):
    other = train(language_recipe, tmp_path / "other", f"data.train={text}/dev.txt")
    mistake("compare", language_run, other, "--run", tmp_path / "all", words=["other", "data"])


def test_a_folder_that_is_no_run(mistake, language_run, tmp_path):
    mistake("compare", language_run, tmp_path, "--run", tmp_path / "all", words=[tmp_path])


def test_a_text_longer_than_the_model(mistake, compared, tmp_path):
    runs = [compared[0] / "V", compared[0] / "R"]
    mistake(
        "compare",
        *runs,
        "--run",
        tmp_path / "all",
        "--text",
        "to be " * 100,
        words=["600 tokens", "takes 15"],
    )


def test_another_recipe_in_the_same_folder(mistake, language_recipe, compared):
    arguments = ["--attention", "V", "--set", "model.width=32"]
    mistake(
        "compare", language_recipe, "--run", compared[0], *arguments, words=["model.width", "another --run"]
    )


def test_a_folder_of_the_users_is_left_alone(mistake, language_recipe, tmp_path):
    (tmp_path / "all" / "V").mkdir(parents=True)
    (tmp_path / "all" / "V" / "thesis.txt").write_text("years of work")
    done = mistake(
        "compare", language_recipe, "--attention", "V", "--run", tmp_path / "all", words=["exists"]
    )
    assert (tmp_path / "all" / "V" / "thesis.txt").read_text() == "years of work", done
