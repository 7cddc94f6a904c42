"""Messages that once misled: what is wrong, with numbers people can read, and what to do."""

import json
import pathlib
import shutil

import pytest
import tensors
from program import changes

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "arguments",
    [["generate", "{run}", "--tokens", "-5"], ["generate", "{run}", "--samples", "0"],
     ["average", "{run}", "--last", "0"], ["inspect", "{run}", "--lines", "-1"],
     ["translate", "{run}", "--nbest", "0"], ["bench", "attention", "--repeats", "-7"]],
    ids=lambda words: " ".join(words[:1] + words[-2:]),
)  # fmt: skip
def test_a_number_out_of_range(mistake, language_run, arguments):
    option, value = arguments[-2:]
    line = mistake(*[word.format(run=language_run) for word in arguments], words=[option, value, "at least"])
    assert len(line) < 100, line


def test_weights_that_there_are_none_of(mistake, language_run):
    words = ["--weights nope", "no such file", "best, last, averaged"]
    mistake("eval", language_run, "--weights", "nope", words=words)
    mistake("eval", language_run, "--weights", "avreaged", words=["did you mean 'averaged'"])
    mistake("eval", language_run, "--weights", "averaged", words=["synth average"])


def test_a_run_of_no_steps(synth, train, mistake, language_recipe, language_run, tmp_path):
    """It is a run: its weights are those drawn at first."""
    run = train(language_recipe, tmp_path / "run", "train.steps=0")
    assert json.loads(synth("eval", run, "--json").stdout)["loss"] > 0
    words = [run, "train.steps = 0"]
    mistake("compare", language_run, run, "--run", tmp_path / "all", words=words)
    synth("train", language_recipe, "--run", run, "--resume", "--set", "train.steps=4")
    tensors.same(run / "model.safetensors", language_run / "model.safetensors")


def test_a_converted_run_is_not_compared(synth, train, mistake, language_recipe, tmp_path):
    run = train(language_recipe, tmp_path / "run", "model.attention=R")
    small = tmp_path / "small"
    synth("convert", run, "--attention", "FR", "--rank", "2", "--run", small)
    words = [small, "synth convert", f"--init-from {small}"]
    line = mistake("compare", run, small, "--run", tmp_path / "all", words=words)
    assert "train it first" not in line


def test_a_table_larger_than_the_memory(synth, language_recipe, tmp_path):
    settings = changes(["model.attention=R", "model.max_length=1000000"])
    done = synth("train", language_recipe, "--run", tmp_path / "run", *settings, ok=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    for word in ["2 × 1,000,000 × 1,000,000", "8.0 TB", "this machine has", "max_length"]:
        assert word in done.stderr
    assert not (tmp_path / "run").exists()
    bench = ["--attention", "R", "--width", "16", "--heads", "2", "--max-length", "1000000", "--length", "8"]
    done = synth("bench", "attention", *bench, ok=False)
    assert done.returncode == 1 and "8.0 TB" in done.stderr


def test_counts_are_never_negative(synth, mistake):
    found = json.loads(synth("params", "--attention", "V", "--max-length", "1000000", "--json").stdout)
    assert found["macs"] == 2 * 10**6 * 512**2 * 2 + 10**12 * 512 * 2
    for length in [10**9, 10**10, 9 * 10**18]:
        words = ["max_length", "smaller"]
        mistake("params", "--attention", "R+V", "--max-length", str(length), words=words)


def test_options_that_the_attention_has_not(mistake, train, synth, language_recipe, tmp_path):
    settings = ["model.attention=R+V", "model.options={ rank = 4 }"]
    words = ["model.options.rank", "R+V"]
    mistake("train", language_recipe, "--run", tmp_path / "run", *changes(settings), words=words)
    assert not (tmp_path / "run").exists()
    # A comparison serves several attention variants with one recipe: each takes what it has.
    options = changes(["model.options={ rank = 4 }"])
    synth("compare", language_recipe, "--attention", "V,FR", "--run", tmp_path / "all", *options)
    assert "rank = 4" in (tmp_path / "all" / "FR" / "config.toml").read_text()
    assert "rank" not in (tmp_path / "all" / "V" / "config.toml").read_text()
    mistake("compare", language_recipe, "--attention", "V,R", "--run", tmp_path / "no", *options,
            words=["model.options.rank", "none of these"])  # fmt: skip


def test_a_run_given_twice_is_not_two_seeds(mistake, synth, language_run, tmp_path):
    again = shutil.copytree(language_run, tmp_path / "again")
    link = tmp_path / "link"
    link.symlink_to(language_run)
    for other in [language_run, again, link]:
        words = [language_run, other, "same weights"]
        mistake("compare", language_run, other, "--run", tmp_path / "all", words=words)


def test_scores_that_fit_the_recipe(synth, train, numbers, tmp_path):
    """The README's recipe. Numbers are one word in German: BLEU, which counts four words in a row, is 0."""
    recipe = ROOT / "recipes" / "translation" / "numbers.toml"
    small = ["model.width=16", "model.layers=1", "model.feed_forward=32", "train.steps=2", "train.warmup=1"]
    run = train(recipe, tmp_path / "run", f"data.root={numbers}", *small)
    found = json.loads(synth("eval", run, "--json").stdout)
    assert {"exact_match", "chrf"} <= set(found) and "bleu" not in found


def test_a_score_that_is_not_measured_cannot_be_watched(mistake, translation_recipe, tmp_path):
    wrong = changes(["data.metrics=chrf", "train.watch=bleu"])
    mistake("train", translation_recipe, "--run", tmp_path / "run", *wrong, words=["train.watch", "chrf"])
    wrong = changes(["data.metrics=blue"])
    mistake("train", translation_recipe, "--run", tmp_path / "run", *wrong, words=["data.metrics", "bleu"])


def test_what_a_message_quotes_cannot_break_its_line(mistake, tmp_path):
    """`mistake` demands exactly one line."""
    recipe = tmp_path / "recipe.toml"
    for line, words in [
        ('task = "language-model"\n[data]\ntrain = [t\n', ["recipe.toml:3", "boolean"]),
        ('task = "language\\n\\u001b[31mmodel"\n', ["language ?[31mmodel"]),
    ]:
        recipe.write_text(line)
        mistake("train", recipe, "--run", tmp_path / "run", words=words)
