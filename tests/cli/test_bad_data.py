"""Texts that are not what they should be: what is said, and that nothing is made."""

import gzip
import os
import pathlib

import pytest
import samples
import tensors
from program import changes

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def refused(mistake, tmp_path):
    """A training that has to be refused before anything is made."""

    def run(recipe, *settings, words):
        mistake("train", recipe, "--run", tmp_path / "run", *changes(settings), words=words)
        assert not (tmp_path / "run").exists()

    return run


def test_files_that_are_not_there(refused, language_recipe, text):
    refused(language_recipe, "data.train=none.txt", words=[f"{text}/none.txt", "No such file"])
    refused(language_recipe, "data.dev=none.txt", words=[f"{text}/none.txt", "No such file"])
    refused(language_recipe, "data.train=.", words=[text, "folder"])


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable to root")
def test_a_file_that_cannot_be_read(refused, language_recipe, tmp_path):
    (tmp_path / "locked.txt").write_text("one\n")
    (tmp_path / "locked.txt").chmod(0)
    refused(language_recipe, f"data.train={tmp_path}/locked.txt", words=["locked.txt", "Permission denied"])


def test_word_vectors_that_are_not_there(refused, mistake, tmp_path):
    """Only scores of the trained model need them; they are missed before it is trained."""
    samples.dialogues(tmp_path / "data")
    recipe = ROOT / "recipes/small/personachat.toml"
    settings = [f"data.root={tmp_path}/data", "data.tokenizer=characters", "data.vocabulary=0"]
    settings += ["model.width=16", "model.heads=2", "model.layers=1", "train.steps=1"]
    for name, what in [("none.txt", "No such file"), (".", "is a folder")]:
        words = [f"data.vectors: {tmp_path}/data/{name}", what]
        refused(recipe, *settings, f"data.vectors={name}", words=words)
        mistake("train", recipe, "--dry-run", *changes([*settings, f"data.vectors={name}"]), words=words)


def test_a_file_to_evaluate_that_is_not_there(mistake, language_run, tmp_path):
    mistake("eval", language_run, "--data", tmp_path / "none", words=[tmp_path / "none"])


def test_parallel_files_of_different_lengths(refused, translation_recipe, numbers, tmp_path):
    for side, lines in [("en", 1200), ("de", 7)]:
        (tmp_path / side).write_text("one\n" * lines)
    files = f'["{tmp_path}/en", "{tmp_path}/de"]'
    words = [f"{tmp_path}/en", "1,200", f"{tmp_path}/de", "7"]
    refused(translation_recipe, f"data.train={files}", words=words)
    refused(translation_recipe, f"data.dev={files}", words=words)


def test_parallel_files_of_different_lengths_to_evaluate(mistake, numbers_run, numbers, tmp_path):
    (tmp_path / "de").write_text("eins\n")
    words = [f"{numbers}/dev.en", "100", f"{tmp_path}/de", "1"]
    mistake("eval", numbers_run, "--data", numbers / "dev.en", tmp_path / "de", words=words)


@pytest.mark.parametrize("tokenizer", ["characters", "bytes", "words", "unigram"])
@pytest.mark.parametrize("split", ["train", "dev"])
def test_text_that_is_not_utf8(refused, language_recipe, tmp_path, tokenizer, split):
    (tmp_path / "latin.txt").write_bytes(b"one two three four\nfine\ncaf\xe9 au lait\nfive\n")
    settings = [f"data.{split}={tmp_path}/latin.txt", f"data.tokenizer={tokenizer}"]
    settings += ["data.vocabulary=60"] if tokenizer == "unigram" else []
    refused(language_recipe, *settings, words=[f"{tmp_path}/latin.txt:3", "byte 4"])


@pytest.mark.parametrize("tokenizer", ["characters", "bytes", "words", "unigram", "bpe"])
@pytest.mark.parametrize("content", ["", "\n\n\n"], ids=["nothing", "empty lines"])
def test_an_empty_text(refused, language_recipe, tmp_path, tokenizer, content):
    (tmp_path / "empty.txt").write_text(content)
    settings = [f"data.train={tmp_path}/empty.txt", f"data.tokenizer={tokenizer}", "data.sequence=lines"]
    refused(language_recipe, *settings, words=["empty"])


@pytest.mark.parametrize("sequence", ["stream", "lines"])
def test_an_empty_dev(refused, language_recipe, tmp_path, sequence):
    (tmp_path / "empty.txt").write_text("")
    settings = [f"data.dev={tmp_path}/empty.txt", f"data.sequence={sequence}", "data.too_long=skip"]
    refused(language_recipe, *settings, words=[f"{tmp_path}/empty.txt is empty"])


def test_pairs_with_an_empty_side_only(refused, translation_recipe, tmp_path):
    (tmp_path / "en").write_text("one\ntwo\n")
    (tmp_path / "de").write_text("\n\n")
    refused(translation_recipe, f'data.dev=["{tmp_path}/en", "{tmp_path}/de"]', words=["2", "empty"])


@pytest.fixture
def long_lines(numbers, tmp_path):
    """The numbers, and two lines that are too long in between."""
    for side in ["en", "de"]:
        lines = (numbers / f"train.{side}").read_text(encoding="utf-8").splitlines()
        lines[4] = lines[9] = "hundert " * 10 if side == "de" else lines[4]
        (tmp_path / f"long.{side}").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return f'data.train=["{tmp_path}/long.en", "{tmp_path}/long.de"]'


def test_lines_longer_than_the_model(refused, translation_recipe, tmp_path, long_lines):
    words = [f"{tmp_path}/long.de:5", "80", "47", "data.too_long"]
    refused(translation_recipe, long_lines, words=words)


@pytest.mark.parametrize("how, word", [("skip", "left out"), ("truncate", "cut")])
def test_lines_longer_than_the_model_are_counted(synth, translation_recipe, tmp_path, long_lines, how, word):
    settings = changes([long_lines, f"data.too_long={how}"])
    said = synth("train", translation_recipe, "--run", tmp_path / "run", *settings).stderr
    assert f"2 lines too long for the model: {word}" in said


def test_lines_longer_than_the_model_to_evaluate(synth, mistake, numbers_run, tmp_path):
    (tmp_path / "en").write_text("one\n" + "one " * 100 + "\n")
    (tmp_path / "de").write_text("eins\neins\n")
    files = ["--data", tmp_path / "en", tmp_path / "de"]
    mistake("eval", numbers_run, *files, words=[f"{tmp_path}/en:2", "data.too_long"])


def test_a_line_longer_than_a_batch(refused, translation_recipe):
    refused(translation_recipe, "train.batch_tokens=10", words=["train.batch_tokens", "10"])


@pytest.mark.parametrize("tokenizer", ["unigram", "bpe", "characters", "words"])
def test_a_vocabulary_larger_than_the_text_can_give(refused, language_recipe, tokenizer):
    settings = [f"data.tokenizer={tokenizer}", "data.vocabulary=90000"]
    refused(language_recipe, *settings, words=["data.vocabulary", "90000", "at most"])


@pytest.mark.parametrize("tokenizer", ["unigram", "bpe"])
def test_a_vocabulary_smaller_than_the_text_needs(refused, language_recipe, tokenizer):
    settings = [f"data.tokenizer={tokenizer}", "data.vocabulary=9"]
    refused(language_recipe, *settings, words=["data.vocabulary", "9", "at least"])


def test_a_tokenizer_that_is_none(refused, language_recipe, text, tmp_path):
    refused(language_recipe, f"data.tokenizer={text}/dev.txt", words=[f"{text}/dev.txt", "tokenizer"])
    (tmp_path / "empty").write_text("")
    refused(language_recipe, f"data.tokenizer={tmp_path}/empty", words=[f"{tmp_path}/empty", "empty"])


def test_a_tokenizer_brought_along(train, language_recipe, language_run, tmp_path):
    run = train(
        language_recipe, tmp_path / "run", f"data.tokenizer={language_run}/tokenizer.model", "train.steps=4"
    )
    tensors.same(run / "model.safetensors", language_run / "model.safetensors")


def test_gzip_that_is_cut_off(refused, language_recipe, text, tmp_path):
    (tmp_path / "cut.gz").write_bytes(gzip.compress((text / "dev.txt").read_bytes())[:-20])
    refused(language_recipe, f"data.train={tmp_path}/cut.gz", words=[f"{tmp_path}/cut.gz", "damaged"])


TABLES = [
    ("t.tsv", "id\ttext\n1\tone\n", "words", ["t.tsv:1", "'words'", "id", "text"]),
    ("t.tsv", "id\ttext\n1\tone\n2\n", "text", ["t.tsv:3", "1", "2"]),
    ("t.jsonl", '{"text": "one"}\n{"text": \n', "text", ["t.jsonl:2", "JSON"]),
    ("t.jsonl", '{"txt": "one"}\n', "text", ["t.jsonl:1", "'text'", "txt"]),
    ("t.jsonl", '["one"]\n', "text", ["t.jsonl:1", "object"]),
    ("t.jsonl", '{"text": null}\n', "text", ["t.jsonl:1", "'text'", "null"]),
    ("t.jsonl", '{"text": "one"}\n', "", ["t.jsonl", "keys"]),
]


@pytest.mark.parametrize("name, content, column, words", TABLES)
def test_tables(refused, language_recipe, tmp_path, name, content, column, words):
    (tmp_path / name).write_text(content)
    columns = [f"data.columns={column}"] if column else []
    refused(language_recipe, f"data.train={tmp_path}/{name}", *columns, words=[tmp_path, *words])
