"""Data in several files, named by patterns; and data that was used before is not read again."""

import os
import shutil
import time

import pytest
import tensors
from program import changes


def split(source, folder, name, parts):
    """The lines of a file as so many files of unequal lengths."""
    lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    cuts = [0, *(len(lines) * (n + 1) // (parts + 1) for n in range(parts - 1)), len(lines)]
    for part in range(parts):
        text = "".join(lines[cuts[part] : cuts[part + 1]])
        (folder / name.format(part)).write_text(text, encoding="utf-8")


def same_weights(run, other):
    a, b = (tensors.read(folder / "model.safetensors") for folder in (run, other))
    assert {name: array.tobytes() for name, array in a.items()} == {
        name: array.tobytes() for name, array in b.items()
    }


def test_a_pattern_is_all_its_files_in_order(train, language_recipe, language_run, text, tmp_path):
    split(text / "train.txt", tmp_path, "part-{}.txt", 3)
    shutil.copy(text / "dev.txt", tmp_path)
    run = train(language_recipe, tmp_path / "run", f"data.root={tmp_path}", "data.train=part-*.txt")
    same_weights(run, language_run)
    assert 'train = "part-*.txt"' in (run / "config.toml").read_text()


def test_parallel_files_in_shards(train, translation_recipe, numbers, tmp_path):
    for language in ["en", "de"]:
        split(numbers / f"train.{language}", tmp_path, f"part-{{}}.{language}", 3)
        shutil.copy(numbers / f"dev.{language}", tmp_path)
    shards = [f"data.root={tmp_path}", 'data.train=["part-*.en", "part-*.de"]']
    whole = train(translation_recipe, tmp_path / "whole")
    same_weights(train(translation_recipe, tmp_path / "run", *shards), whole)


def test_patterns_that_do_not_fit_are_refused(mistake, translation_recipe, numbers, tmp_path):
    for language, parts in [("en", 3), ("de", 2)]:
        split(numbers / f"train.{language}", tmp_path, f"part-{{}}.{language}", parts)
    command = ["train", translation_recipe, "--run", tmp_path / "run"]
    root = f"data.root={tmp_path}"
    mistake(
        *command, *changes([root, 'data.train=["part-*.en", "part-*.de"]']), words=["part-*.en", "3", "2"]
    )
    mistake(
        *command, *changes([root, 'data.train=["x*.en", "part-*.de"]']), words=["x*.en", "no file matches"]
    )
    assert not (tmp_path / "run").exists()


def test_what_was_read_before_is_not_read_again(synth, language_recipe, text, tmp_path):
    data = tmp_path / "data"
    shutil.copytree(text, data)
    for file in data.iterdir():  # old enough to be remembered
        os.utime(file, (time.time() - 100, time.time() - 100))
    settings = [
        f"data.root={data}",
        f"data.cache={tmp_path / 'cache'}",
        "data.tokenizer=bpe",
        "data.vocabulary=90",
    ]
    first = synth("train", language_recipe, "--run", tmp_path / "1", *changes(settings))
    assert "tokenized before" not in first.stderr
    assert len(list((tmp_path / "cache" / "hashes").iterdir())) == 2
    assert len(list((tmp_path / "cache" / "tokenizers").iterdir())) == 1
    again = synth("train", language_recipe, "--run", tmp_path / "2", *changes(settings))
    assert again.stderr.count("tokenized before") == 2
    same_weights(tmp_path / "1", tmp_path / "2")
    # A changed file is found out.
    with open(data / "train.txt", "a", encoding="utf-8") as file:
        file.write("one line more\n")
    changed = synth("train", language_recipe, "--run", tmp_path / "3", *changes(settings))
    assert changed.stderr.count("tokenized before") <= 1


@pytest.mark.parametrize("damage", ["tokenizer", "hash"])
def test_a_damaged_memory_is_made_again(synth, language_recipe, text, tmp_path, damage):
    data, cache = tmp_path / "data", tmp_path / "cache"
    shutil.copytree(text, data)
    for file in data.iterdir():
        os.utime(file, (time.time() - 100, time.time() - 100))
    settings = [f"data.root={data}", f"data.cache={cache}", "data.tokenizer=bpe", "data.vocabulary=90"]
    synth("train", language_recipe, "--run", tmp_path / "1", *changes(settings))
    for file in (cache / ("tokenizers" if damage == "tokenizer" else "hashes")).iterdir():
        file.write_bytes(file.read_bytes()[:10])
    synth("train", language_recipe, "--run", tmp_path / "2", *changes(settings))
    same_weights(tmp_path / "1", tmp_path / "2")
