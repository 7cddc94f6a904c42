"""Texts and runs that are not what they should be, and a system that refuses: what is said, what is kept."""

import gzip
import os
import resource
import shutil
import signal

import numpy
import pytest
import tensors
from program import changes, metrics


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


# Files of a run that are damaged, and how eval, translate and resuming take them.


def cut_in_the_data(raw):
    return raw[:-100]


def cut_in_the_header(raw):
    return raw[:60]


def nothing(raw):
    return b""


def noise(raw):
    return bytes(range(256)) * 40


def a_zip(raw):
    return b"PK\x03\x04" + raw


def text_of_another_kind(raw):
    return b"step,loss\n1,2.5\n" * 100


def header_that_lies(raw):
    return raw.replace(b'"F32"', b'"F64"', 1)


def broken_json(raw):
    return raw.replace(b'"dtype"', b'"dtype', 1)


def more_than_there_should_be(raw):
    return raw + b"more"


DAMAGE = [cut_in_the_data, cut_in_the_header, nothing, noise, a_zip, text_of_another_kind, header_that_lies,
          broken_json, more_than_there_should_be]  # fmt: skip


@pytest.fixture
def copy(language_run, tmp_path):
    return shutil.copytree(language_run, tmp_path / "copy")


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_model(mistake, copy, damage):
    file = copy / "model.safetensors"
    file.write_bytes(damage(file.read_bytes()))
    before = tensors.contents(copy)
    mistake("eval", copy, words=[file])
    mistake("generate", copy, words=[file])
    assert tensors.contents(copy) == before


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_state(mistake, copy, damage):
    file = copy / "train_state.safetensors"
    file.write_bytes(damage(file.read_bytes()))
    before = tensors.contents(copy)
    mistake("train", "--run", copy, "--resume", *changes(["train.steps=9"]), words=[file])
    assert tensors.contents(copy) == before


def test_a_damaged_model_to_translate_with(mistake, numbers_run, tmp_path):
    copy = shutil.copytree(numbers_run, tmp_path / "copy")
    file = copy / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    mistake("translate", copy, input="one\n", words=[file, "missing"])


def test_a_damaged_checkpoint_is_not_averaged(mistake, copy):
    file = copy / "checkpoints" / "step-00000002.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    mistake("average", copy, words=[file])
    assert not (copy / "averaged.safetensors").exists()


@pytest.mark.parametrize("command", ["eval", "resume"])
def test_weights_of_another_model(mistake, train, language_recipe, copy, tmp_path, command):
    other = train(language_recipe, tmp_path / "other", "model.width=32", "train.steps=2")
    name = "model.safetensors" if command == "eval" else "train_state.safetensors"
    shutil.copy(other / name, copy / name)
    arguments = ["eval", copy] if command == "eval" else ["train", "--run", copy, "--resume"]
    mistake(*arguments, words=[copy / name, "another model"])


def test_weights_with_a_tensor_too_few_and_too_many(mistake, copy):
    file = copy / "model.safetensors"
    whole, said = tensors.read(file), tensors.metadata(file)
    tensors.write(file, {**whole, "extra": numpy.zeros(3)}, said)
    mistake("eval", copy, words=[file, "another model"])
    missing = list(whole)[1]
    tensors.write(file, {name: array for name, array in whole.items() if name != missing}, said)
    mistake("eval", copy, words=[file, missing])


@pytest.fixture
def other_tokenizer(train, language_recipe, text, tmp_path):
    """A tokenizer of as many characters as the runs' own, but others."""
    for split in ["train", "dev"]:
        (tmp_path / f"{split}.txt").write_text((text / f"{split}.txt").read_text().replace("e", "é"))
    run = train(language_recipe, tmp_path / "other", f"data.root={tmp_path}", "train.steps=1")
    return run / "tokenizer.model"


@pytest.mark.parametrize("command", ["eval", "generate", "resume"])
def test_the_tokenizer_of_another_run(mistake, copy, other_tokenizer, command):
    shutil.copy(other_tokenizer, copy / "tokenizer.model")
    before = tensors.contents(copy)
    arguments = (
        [command, copy]
        if command != "resume"
        else ["train", "--run", copy, "--resume", "--set", "train.steps=9"]
    )
    mistake(*arguments, words=[copy, "tokenizer"])
    assert tensors.contents(copy) == before


@pytest.mark.parametrize("content", [None, b"", b"no tokenizer"], ids=["missing", "empty", "something else"])
def test_no_tokenizer(mistake, copy, content):
    file = copy / "tokenizer.model"
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    mistake("eval", copy, words=[file])


def test_a_config_with_a_mistake(mistake, copy):
    config = copy / "config.toml"
    config.write_text(config.read_text().replace("width = 16", "widht = 16"))
    mistake("eval", copy, words=[config, "widht", "did you mean"])


def test_a_damaged_log(mistake, copy):
    log = copy / "metrics.jsonl"
    log.write_text("nonsense\n" + log.read_text())
    before = tensors.contents(copy)
    mistake("train", "--run", copy, "--resume", "--set", "train.steps=9", words=[f"{log}:1"])
    assert tensors.contents(copy) == before


# What the system refuses.


def no_file_larger_than(bytes):
    """As on a full disk, a write that goes beyond fails."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes, resource.RLIM_INFINITY))

    return {"preexec_fn": limit, "restore_signals": False}


@pytest.mark.parametrize("full_at", ["model", "state"])
def test_a_full_disk_while_saving(synth, train, language_recipe, copy, tmp_path, full_at):
    model, state = (
        size.stat().st_size for size in [copy / "model.safetensors", copy / "train_state.safetensors"]
    )
    room = model // 2 if full_at == "model" else (model + state) // 2
    before = tensors.contents(copy)
    more = ["train", "--run", copy, "--resume", "--set", "train.steps=8"]
    done = synth(*more, ok=False, **no_file_larger_than(room))
    assert done.returncode == 1
    error = done.stderr.splitlines()[-1]
    assert error.startswith("synth: error: ") and "File too large" in error and str(copy) in error
    after = tensors.contents(copy)
    assert after["train_state.safetensors"] == before["train_state.safetensors"]
    if full_at == "model":
        assert after["model.safetensors"] == before["model.safetensors"]
    assert not [name for name in after if ".tmp" in name]
    synth("eval", copy)
    synth(*more)  # there is room again
    whole = train(language_recipe, tmp_path / "whole", "train.steps=8")
    for name in ["model.safetensors", "train_state.safetensors"]:
        tensors.same(copy / name, whole / name)
    assert metrics(copy, "dev") == metrics(whole, "dev")


def test_a_full_disk_while_tokenizing(synth, language_recipe, tmp_path):
    settings = changes([f"data.cache={tmp_path}/cache"])
    arguments = ["train", language_recipe, "--run", tmp_path / "run", *settings]
    done = synth(*arguments, ok=False, **no_file_larger_than(500))
    assert done.returncode == 1
    assert done.stderr.startswith("synth: error: ") and done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()
    synth(*arguments)


def test_a_folder_that_cannot_be_made(synth, language_recipe, tmp_path):
    (tmp_path / "file").write_text("")
    done = synth("train", language_recipe, "--run", tmp_path / "file" / "run", ok=False)
    assert done.returncode in (1, 2)
    assert done.stderr.splitlines()[-1].startswith("synth: error: ")


def test_a_loss_that_is_not_finite(synth, language_recipe, text, tmp_path):
    wild = [
        "train.learning_rate=1e30",
        "train.clip=0",
        "train.warmup=0",
        "train.save_every=1",
        "train.steps=50",
    ]
    done = synth("train", language_recipe, "--run", tmp_path / "run", *changes(wild), ok=False)
    assert done.returncode == 1
    error = done.stderr.splitlines()[-1]
    assert error.startswith("synth: error: step ") and "not a finite number" in error
    assert f"{text}/train.txt:" in error and "untouched" in error
    step = int(error.split("step ")[1].split(":")[0])
    assert tensors.metadata(tmp_path / "run" / "train_state.safetensors")["step"] == str(step - 1)
    for array in tensors.read(tmp_path / "run" / "train_state.safetensors").values():
        assert numpy.isfinite(array).all()


def test_the_first_tensor_that_went_wrong_is_named(synth, copy):
    state = copy / "train_state.safetensors"
    arrays = {name: array.copy() for name, array in tensors.read(state).items()}
    name = next(n for n in arrays if n.startswith("model.") and ".feed_forward." in n and arrays[n].ndim == 2)
    arrays[name][:] = 3e38
    tensors.write(state, arrays, tensors.metadata(state))
    before = tensors.contents(copy)
    done = synth("train", "--run", copy, "--resume", "--set", "train.steps=9", ok=False)
    assert done.returncode == 1
    error = done.stderr.splitlines()[-1]
    assert error.startswith("synth: error: step 5: ") and "decoder.layers.0.feed_forward" in error
    after = tensors.contents(copy)
    assert all(after[file] == before[file] for file in before)


def test_a_model_that_does_not_fit_into_memory(synth, language_recipe, tmp_path):
    # So large that it is refused at once: nothing of it is ever filled.
    huge = changes(["model.feed_forward=1000000000000"])
    done = synth("train", language_recipe, "--run", tmp_path / "run", *huge, ok=False)
    assert done.returncode == 1, (done.returncode, done.stderr)
    assert done.stderr.startswith("synth: error: ") and done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()
