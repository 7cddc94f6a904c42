"""Files of a run that are damaged: how eval, translate and resuming take them."""

import shutil

import numpy
import pytest
import tensors
from program import changes


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
