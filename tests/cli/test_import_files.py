"""synth import: weights in files of other kinds, wrong weights, and files that are damaged or hostile."""

import copy
import json
import os
import pathlib
import pickle
import subprocess
import zipfile

import numpy
import pytest
import torch
from import_fixtures import change_json, refused
from safetensors.torch import load_file, save_file
from tensors import contents

# Weights in other files


def test_files_of_pytorch_old_and_new(synth, imported, model_folder, tmp_path):
    model = model_folder("marian")
    wanted = contents(imported("marian"))
    weights = load_file(model / "model.safetensors")
    (model / "model.safetensors").unlink()
    for n, new in enumerate([True, False]):
        torch.save(weights, model / "pytorch_model.bin", _use_new_zipfile_serialization=new)
        synth("import", model, "--run", tmp_path / f"run{n}")
        assert contents(tmp_path / f"run{n}")["model.safetensors"] == wanted["model.safetensors"]


def test_many_names_of_one_storage(synth, imported, model_folder, tmp_path):
    """As torch.save writes a module with shared parameters and parts of tensors: each part where it is."""
    model = model_folder("marian")
    wanted = contents(imported("marian"))
    weights = load_file(model / "model.safetensors")
    (model / "model.safetensors").unlink()
    whole, places = torch.cat([tensor.flatten() for tensor in weights.values()]), {}
    for name, tensor in weights.items():
        places[name] = whole[: tensor.numel()].view(tensor.shape)
        whole = whole[tensor.numel() :]
    name = "model.encoder.layers.0.fc1.weight"
    places[name] = places[name].t().contiguous().t()
    for n, new in enumerate([True, False]):
        torch.save(places, model / "pytorch_model.bin", _use_new_zipfile_serialization=new)
        synth("import", model, "--run", tmp_path / f"run{n}")
        assert contents(tmp_path / f"run{n}")["model.safetensors"] == wanted["model.safetensors"]


def test_a_compressed_npz(synth, model_folder, tmp_path):
    model = model_folder("marian-npz")
    synth("import", model, "--run", tmp_path / "stored")
    numpy.savez_compressed(model / "model.npz", **numpy.load(model / "model.npz"))
    synth("import", model, "--run", tmp_path / "compressed")
    ours = [contents(tmp_path / name)["model.safetensors"] for name in ("stored", "compressed")]
    assert ours[0] == ours[1]


def test_several_files_and_half_precision(synth, model_folder, tmp_path):
    model = model_folder("bert")
    weights = {
        name: tensor.to(torch.bfloat16) for name, tensor in load_file(model / "model.safetensors").items()
    }
    names = sorted(weights)
    files = {"model-1-of-2.safetensors": names[::2], "model-2-of-2.safetensors": names[1::2]}
    for file, some in files.items():
        save_file({name: weights[name] for name in some}, model / file)
    where = {name: file for file, some in files.items() for name in some}
    (model / "model.safetensors").unlink()
    (model / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}))
    synth("import", model, "--run", tmp_path / "run")
    ours = load_file(tmp_path / "run" / "model.safetensors")
    assert torch.equal(ours["classes.weight"], weights["classifier.weight"].float())


# Wrong weights


def test_wrong_weights(mistake, model_folder, tmp_path):
    model = model_folder("marian")
    weights = load_file(model / "model.safetensors")
    name = "model.encoder.layers.0.fc1.weight"

    def changed(change):
        other = dict(weights)
        change(other)
        save_file(other, model / "model.safetensors")

    changed(lambda w: w.update({name: w[name][:3].clone()}))
    refused(mistake, model, tmp_path, name, "3×16")
    changed(lambda w: w.pop(name))
    refused(mistake, model, tmp_path, f"no tensor '{name}'")
    changed(lambda w: w.update({"extra.weight": torch.ones(2)}))
    refused(mistake, model, tmp_path, "no place for: extra.weight")
    changed(lambda w: w.update({name: w[name].long()}))
    refused(mistake, model, tmp_path, name, "Long")
    whole = (model / "model.safetensors").read_bytes()
    (model / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    refused(mistake, model, tmp_path, "model.safetensors is damaged")


def cut(dimension, size):
    return lambda tensor: tensor.narrow(dimension, 0, size).clone()


def longer(tensor):
    return torch.cat([tensor, tensor[..., :2]], -1)


@pytest.mark.parametrize(
    "family, name, change, found, wanted",
    [
        ("t5-1.0", "encoder.block.0.layer.0.SelfAttention.q.weight", cut(0, 3), "3×16", "16×16"),
        ("t5-1.1", "decoder.block.0.layer.1.EncDecAttention.k.weight", cut(0, 8), "8×16", "12×16"),
        ("t5-1.0", "decoder.block.1.layer.0.SelfAttention.o.weight", cut(1, 7), "16×7", "16×16"),
        (
            "t5-1.0",
            "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
            cut(1, 1),
            "32×1",
            "32×4",
        ),
        ("gpt2", "transformer.h.0.attn.c_attn.weight", longer, "16×50", "16×48"),
        ("gpt2", "transformer.h.1.attn.c_attn.bias", longer, "50", "48"),
        ("marian", "final_logits_bias", torch.t, "153×1", "1×153"),
        ("bert", "classifier.weight", torch.flatten, "48", "2×16"),
    ],
)
def test_wrong_weights_of_others(mistake, model_folder, tmp_path, family, name, change, found, wanted):
    model = model_folder(family)
    weights = load_file(model / "model.safetensors")
    weights[name] = change(weights[name]).contiguous()
    save_file(weights, model / "model.safetensors")
    refused(mistake, model, tmp_path, f"'{name}'", f"it is {found}, not {wanted}")


@pytest.mark.parametrize(
    "name, change, found, wanted",
    [
        ("decoder_ff_logit_out_b", lambda array: array[:, :9], "1×9", "1×152"),
        ("encoder_l1_self_bq", numpy.transpose, "16×1", "1×16"),
        ("encoder_l2_ffn_W1", lambda array: array[:, :3], "16×3", "16×24"),
    ],
)
def test_wrong_weights_of_marian(mistake, model_folder, tmp_path, name, change, found, wanted):
    model = model_folder("marian-npz")
    arrays = dict(numpy.load(model / "model.npz"))
    arrays[name] = change(arrays[name])
    numpy.savez(model / "model.npz", **arrays)
    refused(mistake, model, tmp_path, f"'{name}'", f"it is {found}, not {wanted}")


@pytest.mark.parametrize(
    "family, key",
    [
        ("marian", "encoder_layers"),
        ("marian", "decoder_layers"),
        ("t5-1.0", "num_decoder_layers"),
        ("gpt2", "n_layer"),
        ("bert", "num_hidden_layers"),
    ],
)
def test_more_layers_than_the_weights_have(mistake, model_folder, tmp_path, family, key):
    """They are refused before memory is taken for them."""
    model = model_folder(family)
    change_json(model / "config.json", **{key: 524288})
    refused(mistake, model, tmp_path, "fewer than the 524288 layers")


# Damaged and hostile files


class Harmful:
    def __reduce__(self):
        return (pathlib.Path("harm").touch, ())


def test_hostile_and_damaged_pickles(mistake, model_folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = model_folder("marian")
    weights = load_file(model / "model.safetensors")
    (model / "model.safetensors").unlink()
    file = model / "pytorch_model.bin"
    torch.save({**weights, "harm": Harmful()}, file)
    refused(mistake, model, tmp_path, "wants to call", "nothing in it was run")
    file.write_bytes(pickle.dumps(Harmful()))
    refused(mistake, model, tmp_path, "pytorch_model.bin")
    assert not (tmp_path / "harm").exists()
    torch.save(weights, file)
    whole = file.read_bytes()
    for length in (0, 1, 100, len(whole) // 2, len(whole) - 30):
        file.write_bytes(whole[:length])
        refused(mistake, model, tmp_path, "pytorch_model.bin")
    torch.save(weights, file, _use_new_zipfile_serialization=False)
    old = file.read_bytes()
    for length in (20, 1000, len(old) - 10):
        file.write_bytes(old[:length])
        refused(mistake, model, tmp_path, "pytorch_model.bin")
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02" + b"(" * 1000 + b"t" * 2000 + b".")
    refused(mistake, model, tmp_path, "pytorch_model.bin is damaged")
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02" + b")" + b"\x85" * 300000 + b".")
    refused(mistake, model, tmp_path, "does not hold weights by name")


def test_what_lies_upon_itself(mistake, model_folder, tmp_path):
    """A small file that would be a large model."""
    model = model_folder("marian")
    weights = load_file(model / "model.safetensors")
    (model / "model.safetensors").unlink()
    file = model / "pytorch_model.bin"
    for strides in [(1, 1, 1), (0, 1, 2)]:
        torch.save({**weights, "large": torch.zeros(200).as_strided((50, 50, 50), strides)}, file)
        refused(mistake, model, tmp_path, "tensor 'large' is larger than its storage")
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02}." * 1000)
        for n in range(3):
            again = copy.copy(archive.filelist[0])
            again.filename = f"archive/data/{n}"
            archive.filelist.append(again)
    refused(mistake, model, tmp_path, "its parts are larger than the whole")


@pytest.mark.parametrize(
    "file, text",
    [
        ("config.json", '{"zzz": %s}'),
        ("vocab.json", '{"a": %s}'),
        ("generation_config.json", '{"eos_token_id": %s}'),
        ("tokenizer_config.json", '{"never_split": %s}'),
        ("model.safetensors.index.json", '{"weight_map": %s}'),
    ],
)
def test_json_that_is_nested_deep(mistake, model_folder, tmp_path, file, text):
    """Nothing calls itself for each level of it."""
    model = model_folder("marian")
    if "index" in file:
        (model / "model.safetensors").unlink()
    (model / file).write_text(text % ("[" * 200_000 + "]" * 200_000))
    refused(mistake, model, tmp_path, f"{file} is damaged: it is nested more than 100 deep")


@pytest.mark.parametrize("where", ["{}", '{"a": 1}', '["a"]', "7", "null"])
def test_an_index_without_files(mistake, model_folder, tmp_path, where):
    model = model_folder("marian")
    (model / "model.safetensors").unlink()
    (model / "model.safetensors.index.json").write_text('{"weight_map": ' + where + "}")
    refused(mistake, model, tmp_path, "does not say which file has which tensor")


def test_long_names_and_values_are_cut(mistake, model_folder, tmp_path):
    model = model_folder("marian")
    config = json.loads((model / "config.json").read_text())
    for name, value in [("zzz", "ж" * 100_000), ("zzz", list(range(100_000))), ("z" * 100_000, 1)]:
        (model / "config.json").write_text(json.dumps({**config, name: value}))
        line = mistake("import", model, "--run", tmp_path / "new", words=["'zzz", "…", "unknown setting"])
        assert len(line) < 600
    (model / "config.json").write_text(json.dumps(config))
    weights = load_file(model / "model.safetensors")
    save_file({**weights, "x" * 100_000: torch.ones(2)}, model / "model.safetensors")
    line = mistake("import", model, "--run", tmp_path / "new", words=["no place for: xxx", "…"])
    assert len(line) < 400


@pytest.mark.parametrize("file", ["model.safetensors", "source.spm", "vocab.json", "config.json"])
def test_a_pointer_of_git_lfs(mistake, model_folder, tmp_path, file):
    model = model_folder("marian")
    (model / file).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 3\n")
    refused(mistake, model, tmp_path, f"{file} is a pointer of Git LFS", "git lfs pull")


def peak_memory(model, run):
    """Of an import that is refused, in MB; what it says."""
    words = [os.environ["SYNTH"], "import", str(model), "--run", str(run)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 2, said
    return used.ru_maxrss / 1024, said


def test_small_files_do_not_fill_the_memory(model_folder, tmp_path):
    """At most 64 MB beyond the size of the file (CONTRIBUTING.md)."""
    model, run = model_folder("marian"), tmp_path / "run"
    weights = load_file(model / "model.safetensors")
    weights.pop("final_logits_bias")  # so that nothing is made
    save_file(weights, model / "model.safetensors")
    usual, _ = peak_memory(model, run)
    (model / "model.safetensors").unlink()
    file = model / "pytorch_model.bin"

    def check(words):
        used, said = peak_memory(model, run)
        assert words in said and used < usual + 64 + file.stat().st_size / 2**20, (used, usual, said)

    many = torch.zeros(2_500_000)
    for new in (True, False):
        torch.save({f"t{n}": many for n in range(400)}, file, _use_new_zipfile_serialization=new)
        check("no tensor")
    long_key = b"X\x40\x42\x0f\x00" + b"a" * 1_000_000 + b"q\x00"
    storage = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nh\x00U\x03cpuK\x01tQ"
    program = {
        "values": b"}" * 3_000_000,
        "memory": b"}" + b"\x94" * 3_000_000,
        "references": b"]q\x00(" + b"h\x00" * 3_000_000 + b"e",
        "keys": long_key + storage * 1_000,
    }
    for name, code in program.items():
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("archive/data.pkl", b"\x80\x02" + code + b".")
        check("does not hold weights" if name == "keys" else "more operations than weights need")


def test_an_npz_that_is_larger_than_it_looks(model_folder, tmp_path):
    model, run = model_folder("marian-npz"), tmp_path / "run"
    with zipfile.ZipFile(model / "model.npz", "a", zipfile.ZIP_DEFLATED) as archive:
        for n in range(4):
            archive.writestr(f"zeros{n}.npy", bytes(100_000_000))
    used, said = peak_memory(model, run)
    assert "model.npz would have more than" in said and "without compression" in said
    assert used < 300


def test_an_empty_tensor(mistake, model_folder, tmp_path):
    model = model_folder("marian")
    weights = load_file(model / "model.safetensors")
    (model / "model.safetensors").unlink()
    torch.save({**weights, "x": torch.zeros(0, 3)}, model / "pytorch_model.bin")
    refused(mistake, model, tmp_path, "tensor 'x' is empty")


def test_every_changed_byte_of_a_small_pickle_is_survived(synth, model_folder, tmp_path):
    """Whatever stands there: a run, or one line of error."""
    model = model_folder("marian")
    weights = load_file(model / "model.safetensors")
    (model / "model.safetensors").unlink()
    file = model / "pytorch_model.bin"
    torch.save(weights, file, _use_new_zipfile_serialization=False)
    whole = file.read_bytes()
    for n in range(12):
        place = n * 177
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x5A]) + whole[place + 1 :])
        done = synth("import", model, "--run", tmp_path / f"run{n}", ok=False)
        assert done.returncode in (0, 2), (place, done.returncode, done.stderr)
        assert done.stderr.count("\n") == 1
