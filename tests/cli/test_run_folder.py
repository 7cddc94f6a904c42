"""A run is a folder that others can read: its files, by the programs they are meant for."""

import json
import math
import re
import shutil
import socket
import struct

import numpy
import pytest
import safetensors.numpy
import tensors
from program import metrics


def test_the_files(language_run):
    names = {path.name for path in language_run.iterdir()}
    assert {"config.toml", "tokenizer.model", "model.safetensors", "train_state.safetensors", "metrics.jsonl",
            "run.json", "checkpoints"} <= names  # fmt: skip
    assert sum(name.startswith("events.out.tfevents.") for name in names) == 1
    assert not [name for name in names if ".tmp" in name]
    assert sorted(path.name for path in (language_run / "checkpoints").iterdir()) == [
        "step-00000002.safetensors",
        "step-00000004.safetensors",
    ]


def test_separate_tokenizers(train, synth, translation_recipe, tmp_path):
    run = train(translation_recipe, tmp_path / "run", "data.joint=false")
    source, target = (run / name for name in ["tokenizer.model", "tokenizer.target.model"])
    assert source.read_bytes() != target.read_bytes()
    synth("eval", run, "--data", "dev", "--no-text")


def test_config_holds_every_key(synth, language_run):
    def keys(text):
        section, found = "", []
        for line in text.splitlines():
            if match := re.fullmatch(r"\[(\w+)\]", line):
                section = match[1] + "."
            elif match := re.match(r"(\w+) = ", line):
                found.append(section + match[1])
        return found

    explained = synth("train", "--explain").stdout
    known = keys(explained)
    assert keys((language_run / "config.toml").read_text()) == known
    assert {"task", "seed", "data.train", "model.attention", "train.steps", "decode.beam"} <= set(known)
    assert len(known) == len(set(known)) > 60
    for line in explained.splitlines():
        assert not re.match(r"\w+ = ", line) or re.search(r"# \S", line), "every key is explained"


def test_explained_defaults_are_a_recipe(synth, tmp_path, text):
    (tmp_path / "defaults.toml").write_text(synth("train", "--explain").stdout)
    small = [
        "model.width=16",
        "model.max_length=16",
        "train.steps=1",
        "data.vocabulary=100",
        "train.batch_tokens=64",
    ]
    arguments = [word for setting in small for word in ("--set", setting)]
    arguments += ["--set", f"data.train={text}/train.txt"]
    synth("train", tmp_path / "defaults.toml", "--run", tmp_path / "run", *arguments)


def test_config_makes_the_same_run_again(train, language_run, tmp_path):
    again = train(language_run / "config.toml", tmp_path / "again")
    for name in ["model.safetensors", "train_state.safetensors"]:
        tensors.same(again / name, language_run / name)
    assert (again / "config.toml").read_text() == (language_run / "config.toml").read_text()
    assert (again / "tokenizer.model").read_bytes() == (language_run / "tokenizer.model").read_bytes()


def test_another_seed_is_another_run(train, language_recipe, language_run, tmp_path):
    other = train(language_recipe, tmp_path / "other", "seed=2")
    assert (other / "model.safetensors").read_bytes() != (language_run / "model.safetensors").read_bytes()


def test_python_reads_the_weights(language_run):
    arrays = safetensors.numpy.load_file(language_run / "model.safetensors")
    mine = tensors.read(language_run / "model.safetensors")
    assert set(arrays) == set(mine)
    for name, array in arrays.items():
        assert array.dtype == numpy.float32 and numpy.isfinite(array).all()
        assert array.tobytes() == mine[name].tobytes()
    with safetensors.safe_open(language_run / "model.safetensors", "numpy") as file:
        assert file.metadata()["format"] == "pt" and file.metadata()["step"] == "4"
    names = set(safetensors.numpy.load_file(language_run / "train_state.safetensors"))
    assert {f"model.{name}" for name in arrays} <= names


def test_names_are_stable(language_run, train, translation_recipe, tmp_path):
    names = set(tensors.read(language_run / "model.safetensors"))
    layer = "decoder.layers.0"
    expected = {
        f"{layer}.attention.{part}.{kind}" for part in ["value", "output"] for kind in ["weight", "bias"]
    }
    expected |= {f"{layer}.attention.logits.V.query.weight", f"{layer}.attention.logits.V.key.weight"}
    expected |= {
        f"{layer}.{norm}.{kind}"
        for norm in ["attention_norm", "feed_forward_norm"]
        for kind in ["weight", "bias"]
    }
    expected |= {"embedding.weight", "decoder.norm.weight", "decoder.norm.bias"}
    assert expected <= names
    assert {name for name in names - expected if not name.startswith(f"{layer}.feed_forward.")} == set()
    run = train(translation_recipe, tmp_path / "run", "model.attention=FR")
    names = set(tensors.read(run / "model.safetensors"))
    assert "encoder.layers.0.attention.logits.FR.left" in names
    assert any(name.startswith("decoder.layers.0.cross.") for name in names)


def loss(synth, run):
    return json.loads(synth("eval", run, "--json").stdout)["loss"]


def test_weights_written_by_python(synth, language_run, tmp_path):
    copy = shutil.copytree(language_run, tmp_path / "copy")
    file = copy / "model.safetensors"
    arrays = safetensors.numpy.load_file(file)
    file.unlink()
    safetensors.numpy.save_file(arrays, file)
    assert loss(synth, copy) == loss(synth, language_run)
    arrays["embedding.weight"] = arrays["embedding.weight"] * 2
    safetensors.numpy.save_file(arrays, file)
    assert loss(synth, copy) != loss(synth, language_run)


def test_metrics(language_run):
    lines = metrics(language_run)
    assert [(line["step"], line["split"]) for line in lines] == [
        (1, "train"), (2, "train"), (2, "dev"), (3, "train"), (4, "train"), (4, "dev")]  # fmt: skip
    for line in lines:
        assert list(line)[:3] == ["step", "split", "loss"] and math.isfinite(line["loss"])
    assert lines[0]["learning_rate"] == pytest.approx(5e-3) and lines[1]["learning_rate"] == pytest.approx(
        1e-2
    )
    assert lines[2]["perplexity"] == pytest.approx(math.exp(lines[2]["loss"]))
    assert lines[0]["peak_memory_bytes"] > 10e6


def test_how_the_run_came_to_be(synth, language_run, language_recipe, text):
    raw = (language_run / "run.json").read_text()
    record = json.loads(raw)
    assert record["command"][1:] == ["train", str(language_recipe), "--run", str(language_run)]
    assert synth("--version").stdout == f"synth {record['version']}\n"
    assert re.fullmatch(r"[0-9a-f]{7,40}(-dirty|\+)?|unknown", record["commit"])
    assert record["libtorch"].startswith("2.") and record["processor"] and record["threads"] >= 1
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", record["started"])
    assert set(record["data"]) == {str(text / "train.txt"), str(text / "dev.txt")}
    hashes = list(record["data"].values())
    assert all(re.fullmatch(r"[0-9a-f]{16,}", value) for value in hashes) and hashes[0] != hashes[1]
    hostname = socket.gethostname()
    assert len(hostname) < 4 or hostname not in raw
    assert not [path for path in language_run.iterdir() if len(hostname) > 3 and hostname in path.name]


def test_text_is_tokenized_once(synth, language_recipe, text, tmp_path):
    def said(name, *more):
        cache = [
            "--set",
            f"data.cache={tmp_path}/cache",
            "--set",
            "train.steps=1",
            "--set",
            f"data.root={tmp_path}",
        ]
        return synth("train", language_recipe, "--run", tmp_path / name, *cache, *more).stderr

    for split in ["train", "dev"]:
        shutil.copy(text / f"{split}.txt", tmp_path)
    assert "tokenized before" not in said("first")
    assert said("second", "--set", "model.width=32").count("tokenized before") == 2
    with (tmp_path / "dev.txt").open("a") as file:
        file.write("one more line\n")
    assert said("third").count("tokenized before") == 1


def test_a_damaged_cache_is_made_anew(synth, language_recipe, tmp_path):
    def go(name):
        arguments = ["--set", f"data.cache={tmp_path}/cache", "--set", "train.steps=1"]
        synth("train", language_recipe, "--run", tmp_path / name, *arguments)
        return tmp_path / name / "train_state.safetensors"

    first = go("first")
    for path in (tmp_path / "cache").rglob("*"):
        if path.is_file() and path.stat().st_size > 8:
            raw = bytearray(path.read_bytes())
            raw[len(raw) // 2] ^= 0x55
            path.write_bytes(bytes(raw))
    tensors.same(go("second"), first)


# TensorBoard's files: records of a length, its sum, the data, its sum.


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def masked(data):
    value = crc32c(data)
    return ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(raw):
    while raw:
        length, length_sum = struct.unpack("<QI", raw[:12])
        data, (data_sum,) = raw[12 : 12 + length], struct.unpack("<I", raw[12 + length : 16 + length])
        assert length_sum == masked(raw[:8]) and data_sum == masked(data)
        yield data
        raw = raw[16 + length :]


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """A protocol buffer message as (number, value) pairs."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            if key & 7 == 2:
                length, at = varint(data, at)
            else:
                length = {1: 8, 5: 4}[key & 7]
            value, at = data[at : at + length], at + length
        yield key >> 3, value


def points(raw):
    """(tag, step) → value of every scalar."""
    found = {}
    for record in records(raw):
        event = dict(fields(record))
        if 5 in event:
            value = dict(fields(dict(fields(event[5]))[1]))
            found[value[1].decode(), event.get(2, 0)] = struct.unpack("<f", value[2])[0]
    return found


def test_tensorboard(language_run):
    (file,) = language_run.glob("events.out.tfevents.*")
    raw = file.read_bytes()
    assert dict(fields(next(records(raw))))[3] == b"brain.Event:2"
    found = points(raw)
    for line in metrics(language_run):
        for key in set(line) - {"step", "split"}:
            value = found[f"{line['split']}/{key}", line["step"]]
            assert value == pytest.approx(line[key], rel=1e-6)
    assert len(found) == sum(len(line) - 2 for line in metrics(language_run))


def test_tensorboard_of_a_resumed_run(synth, language_run, tmp_path):
    copy = shutil.copytree(language_run, tmp_path / "copy")
    synth("train", "--run", copy, "--resume", "--set", "train.steps=6")
    first, second = sorted(copy.glob("events.out.tfevents.*"))
    assert set(points(second.read_bytes())) >= {("train/loss", 5), ("train/loss", 6), ("dev/loss", 6)}
    assert all(step > 4 for _, step in points(second.read_bytes()))
    assert first.name in {path.name for path in language_run.iterdir()}
