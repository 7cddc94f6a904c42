"""synth import and export of models of other programs, on the tiny models of tests/interop."""

import json
import pathlib
import pickle
import shutil
import zipfile

import pytest
import torch
from program import metrics
from safetensors.torch import load_file, save_file
from tensors import contents

REFERENCES = pathlib.Path(__file__).resolve().parents[1] / "interop" / "references"
FAMILIES = ["marian", "marian-separate", "t5-1.0", "t5-1.1", "gpt2", "bert", "bert-cased"]


@pytest.fixture(scope="module")
def imported(synth, tmp_path_factory):
    """The run of a family, imported once."""
    runs = {}

    def get(family):
        if family not in runs:
            runs[family] = tmp_path_factory.mktemp("imported") / family
            done = synth("import", REFERENCES / family, "--run", runs[family])
            assert done.stdout == "" and done.stderr.startswith(f"made {runs[family]}, a ")
        return runs[family]

    return get


def expected(family):
    return json.loads((REFERENCES / family / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture
def folder(tmp_path):
    """A copy of a family's folder, to do harm to."""
    return lambda family: shutil.copytree(REFERENCES / family, tmp_path / "model")


def lines(text):
    return "".join(line + "\n" for line in text)


# What an imported run is good for


@pytest.mark.parametrize("family", ["marian", "marian-separate", "t5-1.0", "t5-1.1"])
def test_translate(synth, imported, family):
    told = expected(family)
    done = synth(
        "translate", imported(family), "--beam", "1", "--max-length", "22", input=lines(told["lines"])
    )
    assert done.stdout.splitlines() == told["written"]["greedy"]


@pytest.mark.parametrize("family", ["marian", "t5-1.1"])
def test_eval_inspect_and_int8(synth, imported, family, tmp_path):
    told = expected(family)
    for name in ("source", "target"):
        (tmp_path / name).write_text(lines(told["lines"][:5]), encoding="utf-8")
    data = ["--data", tmp_path / "source", "--data", tmp_path / "target"]
    scores = json.loads(synth("eval", imported(family), *data, "--json").stdout)
    assert scores["loss"] > 0 and scores["tokens"] > 50
    synth("inspect", imported(family), "--text", "We know't.", "--out", tmp_path / "out")
    assert any((tmp_path / "out").iterdir())
    synth("export", imported(family), "--quantize", "int8", "--run", tmp_path / "int8")
    assert synth("translate", tmp_path / "int8", input="Resolved.\n").stdout.count("\n") == 1


def test_generate(synth, imported):
    told = expected("gpt2")
    done = synth(
        "generate", imported("gpt2"), "--prompt", told["lines"][0], "--tokens", "16", "--temperature", "0"
    )
    assert done.stdout == told["lines"][0] + told["written"][0] + "\n"


def test_classify(synth, imported):
    told = expected("bert")
    done = synth("classify", imported("bert"), input=lines(told["lines"]))
    assert done.stdout.splitlines() == told["labels"]


@pytest.mark.parametrize("family", FAMILIES)
def test_tokens_are_those_of_the_folder(synth, imported, family):
    told = expected(family)
    one_line = [(text, ids) for text, ids in zip(told["lines"], told["tokens"]) if "\n" not in text]
    done = synth("tokenize", imported(family), "--ids", input=lines(text for text, _ in one_line))
    for line, (_, ids) in zip(done.stdout.splitlines(), one_line):
        ours = [int(word) for word in line.split()]
        assert ours == ids if family == "gpt2" else ours == (ids[1:-1] if "bert" in family else ids[:-1])


def test_fine_tuning_with_a_mixture(synth, imported, tmp_path):
    """V becomes R+V, says the same, and is trained further."""
    text = lines(expected("marian")["lines"][:5])
    for name in ("a", "b"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    mixed, trained = tmp_path / "mixed", tmp_path / "trained"
    synth("convert", imported("marian"), "--attention", "R+V", "--run", mixed)
    before = synth("translate", imported("marian"), input=text).stdout
    assert synth("translate", mixed, input=text).stdout == before
    data = f'data.train=["{tmp_path}/a", "{tmp_path}/b"]'
    settings = [
        "train.steps=8",
        "train.learning_rate=1e-2",
        "train.schedule=constant",
        "train.warmup=0",
        "train.log_every=1",
        "train.save_every=8",
        "model.dropout=0.0",
    ]
    words = [word for one in [data, *settings] for word in ("--set", one)]
    synth("train", "--init-from", mixed, "--run", trained, *words)
    losses = [line["loss"] for line in metrics(trained, "train")]
    assert losses[-1] < losses[0]
    old, new = load_file(mixed / "model.safetensors"), load_file(trained / "model.safetensors")
    table = "encoder.layers.0.attention.logits.R.table"
    assert old[table].abs().max() == 0 and new[table].abs().max() > 0


# Weights in other files


def test_files_of_pytorch_old_and_new(synth, imported, folder, tmp_path):
    model = folder("marian")
    wanted = contents(imported("marian"))
    weights = load_file(model / "model.safetensors")
    (model / "model.safetensors").unlink()
    for n, new in enumerate([True, False]):
        torch.save(weights, model / "pytorch_model.bin", _use_new_zipfile_serialization=new)
        synth("import", model, "--run", tmp_path / f"run{n}")
        assert contents(tmp_path / f"run{n}")["model.safetensors"] == wanted["model.safetensors"]


def test_several_files_and_half_precision(synth, folder, tmp_path):
    model = folder("bert")
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


# Mistakes


class Harmful:
    def __reduce__(self):
        return (pathlib.Path("harm").touch, ())


def refused(mistake, model, tmp_path, *words, options=()):
    mistake("import", model, "--run", tmp_path / "new", *options, words=words)
    assert not (tmp_path / "new").exists()


def test_what_is_not_a_model(mistake, tmp_path, folder):
    refused(mistake, tmp_path / "nowhere", tmp_path, "nowhere is not a folder")
    (tmp_path / "empty").mkdir()
    refused(mistake, tmp_path / "empty", tmp_path, "no config.json")
    (tmp_path / "empty" / "config.json").write_text("[1")
    refused(mistake, tmp_path / "empty", tmp_path, "config.json is damaged")
    (tmp_path / "empty" / "config.json").write_text('{"model_type": "llama"}')
    refused(mistake, tmp_path / "empty", tmp_path, "'model_type' is \"llama\"", "marian")
    model = folder("marian")
    (model / "model.safetensors").unlink()
    refused(mistake, model, tmp_path, "has no weights")


@pytest.mark.parametrize("file", ["source.spm", "target.spm", "vocab.json"])
def test_a_missing_tokenizer(mistake, folder, tmp_path, file):
    model = folder("marian")
    (model / file).unlink()
    refused(mistake, model, tmp_path, f"has no {file}")


@pytest.mark.parametrize(
    "family, file", [("t5-1.0", "spiece.model"), ("gpt2", "merges.txt"), ("bert", "vocab.txt")]
)
def test_a_missing_tokenizer_of_others(mistake, folder, tmp_path, family, file):
    model = folder(family)
    (model / file).unlink()
    refused(mistake, model, tmp_path, "has no ")


def test_settings_that_are_not_supported(mistake, synth, folder, tmp_path):
    model = folder("marian")
    config = json.loads((model / "config.json").read_text())

    def changed(**settings):
        (model / "config.json").write_text(json.dumps({**config, **settings}))

    for settings, words in [
        ({"normalize_before": True}, ["'normalize_before' is true"]),
        ({"activation_function": "quick_gelu"}, ["'activation_function'", "quick_gelu"]),
        ({"decoder_ffn_dim": 32}, ["'decoder_ffn_dim' is 32"]),
        ({"encoder_layerdrop": 0.1}, ["'encoder_layerdrop'"]),
        ({"d_model": "wide"}, ["'d_model'", "whole number"]),
        ({"d_model": 15}, ["multiple"]),
        ({"repetition_penalty": 1.5}, ["'repetition_penalty' is 1.5"]),
        ({"rotary_dimension": 4}, ["'rotary_dimension' is 4", "--ignore rotary_dimension"]),
    ]:
        changed(**settings)
        refused(mistake, model, tmp_path, *words)
    synth("import", model, "--run", tmp_path / "new", "--ignore", "rotary_dimension")


def test_wrong_weights(mistake, folder, tmp_path):
    model = folder("marian")
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


def test_hostile_and_damaged_pickles(mistake, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = folder("marian")
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
        archive.writestr("archive/data.pkl", b"\x80\x02" + b")" + b"\x85" * 500000 + b".")
    refused(mistake, model, tmp_path, "does not hold weights by name")


def test_every_changed_byte_of_a_small_pickle_is_survived(synth, folder, tmp_path):
    """Whatever stands there: a run, or one line of error."""
    model = folder("marian")
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


def test_the_new_run_must_be_new(mistake, imported):
    mistake("import", REFERENCES / "marian", "--run", imported("marian"), words=["exists already"])


# CTranslate2


def test_ctranslate2_writes_the_same_tokens(synth, imported, tmp_path):
    ctranslate2 = pytest.importorskip("ctranslate2")
    for family in ["marian", "marian-separate", "t5-1.0", "t5-1.1"]:
        out = tmp_path / family
        synth("export", imported(family), "--to", "ctranslate2", "--out", out)
        translator = ctranslate2.Translator(str(out), intra_threads=1)
        told = expected(family)
        shared = (out / "shared_vocabulary.json").exists()
        sources, targets = (
            json.loads((out / f"{'shared' if shared else side}_vocabulary.json").read_text())
            for side in ("source", "target")
        )
        fed = [[sources[token] for token in ids[:-1]] for ids in told["tokens"]]
        results = translator.translate_batch(fed, beam_size=1, min_decoding_length=0, max_decoding_length=22)
        for result, ids in zip(results, told["found"]["greedy"]):
            assert result.hypotheses[0][:22] == [targets[token] for token in ids]


def test_what_ctranslate2_does_not_have(mistake, imported, synth, tmp_path):
    mixed = tmp_path / "mixed"
    synth("convert", imported("marian"), "--attention", "R+V", "--run", mixed)
    mistake("export", mixed, "--to", "ctranslate2", "--out", tmp_path / "out", words=["R+V", "V alone"])
    mistake(
        "export", imported("gpt2"), "--to", "ctranslate2", "--out", tmp_path / "out", words=["language-model"]
    )
    mistake("export", imported("marian"), "--to", "ctranslate2", words=["--out is missing"])
    mistake("export", imported("marian"), "--out", tmp_path / "out", words=["--to"])
    assert not (tmp_path / "out").exists()
