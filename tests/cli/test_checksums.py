"""Weights and training states have a checksum: a bit that changed on disk is found when they are loaded."""

import random
import struct

import pytest
import tensors
from program import changes


def crc32c(data):
    """Bit by bit from the definition: reflected polynomial 0x82F63B78."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    total = 0xFFFFFFFF
    for byte in data:
        total = (total >> 8) ^ table[(total ^ byte) & 0xFF]
    return total ^ 0xFFFFFFFF


FILES = ["model.safetensors", "train_state.safetensors", "checkpoints/step-00000004.safetensors"]


@pytest.mark.parametrize("name", FILES)
def test_the_sum_is_that_of_all_bytes(language_run, name):
    said = tensors.metadata(language_run / name)["crc32c"]
    raw = (language_run / name).read_bytes()
    mark = b'"crc32c":"'
    place = raw.index(mark) + len(mark)
    assert raw[place : place + 8].decode() == said
    assert crc32c(raw[:place] + b"00000000" + raw[place + 8 :]) == int(said, 16)


def flip(path, bit):
    raw = bytearray(path.read_bytes())
    raw[bit // 8] ^= 1 << bit % 8
    path.write_bytes(raw)


def data_bits(path):
    raw = path.read_bytes()
    (header,) = struct.unpack("<Q", raw[:8])
    return range(8 * (8 + header), 8 * len(raw))


@pytest.mark.parametrize("seed", range(4))
def test_a_flipped_bit_of_the_weights(mistake, copy, seed):
    path = copy / "model.safetensors"
    flip(path, random.Random(seed).choice(data_bits(path)))
    words = [path, "damaged", "checksum"]
    mistake("eval", copy, words=words)
    mistake("generate", copy, "--tokens", "3", words=words)


@pytest.mark.parametrize("seed", range(4))
def test_a_flipped_bit_of_the_training_state(mistake, copy, language_recipe, seed):
    path = copy / "train_state.safetensors"
    flip(path, random.Random(seed).choice(data_bits(path)))
    before = tensors.contents(copy)
    more = changes(["train.steps=8"])
    mistake("train", language_recipe, "--run", copy, "--resume", *more, words=[path, "damaged", "checksum"])
    assert tensors.contents(copy) == before


def test_a_flipped_digit_of_the_position(mistake, copy, language_recipe):
    """The header counts too: a step that changed would repeat or skip batches."""
    path = copy / "train_state.safetensors"
    raw = path.read_bytes()
    place = raw.index(b'"step":"4"') + len(b'"step":"')
    path.write_bytes(raw[:place] + b"5" + raw[place + 1 :])
    more = changes(["train.steps=8"])
    mistake("train", language_recipe, "--run", copy, "--resume", *more, words=[path, "damaged"])


def test_a_flipped_bit_of_a_checkpoint(mistake, copy):
    path = copy / "checkpoints" / "step-00000002.safetensors"
    flip(path, data_bits(path)[1000])
    mistake("average", copy, words=[path, "damaged"])
    assert not (copy / "averaged.safetensors").exists()


def test_a_flipped_bit_of_the_averaged_weights(synth, mistake, copy):
    synth("average", copy)
    path = copy / "averaged.safetensors"
    flip(path, random.Random(1).choice(data_bits(path)))
    mistake("eval", copy, "--weights", "averaged", words=[path, "damaged", "checksum"])
    synth("eval", copy)  # which needs other weights


def test_a_flipped_bit_of_an_int8_export(synth, mistake, language_run, tmp_path):
    small = tmp_path / "small"
    synth("export", language_run, "--quantize", "int8", "--no-scores", "--run", small)
    path = small / "model.safetensors"
    whole = path.read_bytes()
    assert any(array.dtype == "i1" for array in tensors.read(path).values())
    for seed in range(4):
        path.write_bytes(whole)
        flip(path, random.Random(seed).choice(data_bits(path)))
        mistake("eval", small, words=[path, "damaged", "checksum"])


def test_averages_and_exports_have_one(synth, copy, tmp_path):
    synth("average", copy)
    synth("export", copy, "--quantize", "int8", "--no-scores", "--run", tmp_path / "small")
    for path in [copy / "averaged.safetensors", tmp_path / "small" / "model.safetensors"]:
        assert tensors.metadata(path)["crc32c"]


def test_a_file_without_a_sum_is_loaded_as_before(synth, copy):
    """As other programs write it; also with our metadata copied, in another form."""
    path = copy / "model.safetensors"
    found = synth("eval", copy, "--json").stdout
    arrays, metadata = tensors.read(path), tensors.metadata(path)
    tensors.write(path, arrays, metadata)  # json.dumps puts a blank behind the colon
    assert synth("eval", copy, "--json").stdout == found
    metadata.pop("crc32c")
    tensors.write(path, arrays, metadata)
    assert synth("eval", copy, "--json").stdout == found
