"""synth import and export of models of other programs, on the tiny models of tests/interop."""

import copy
import json
import os
import pathlib
import pickle
import shutil
import subprocess
import zipfile

import numpy
import pytest
import tomllib
import torch
from program import metrics
from safetensors.torch import load_file, save_file
from tensors import contents

REFERENCES = pathlib.Path(__file__).resolve().parents[1] / "interop" / "references"
FAMILIES = ["marian", "marian-separate", "t5-1.0", "t5-1.1", "gpt2", "bert", "bert-cased"]
# What save_pretrained of transformers 5.23 writes of the tokenizers of these folders.
SAVED = REFERENCES / "saved-tokenizers"
VOCABULARIES = {"t5-1.0": ["spiece.model"], "gpt2": ["vocab.json", "merges.txt"], "bert": ["vocab.txt"]}


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


@pytest.fixture
def saved(folder):
    """The same with the tokenizer as transformers 5.23 saves it: tokenizer.json alone."""

    def get(family):
        model = folder(family)
        for file in VOCABULARIES[family]:
            (model / file).unlink()
        shutil.copytree(SAVED / family, model, dirs_exist_ok=True)
        return model

    return get


def lines(text):
    return "".join(line + "\n" for line in text)


def small_data(family, folder):
    """Files that a run of this family can be evaluated on and trained with."""
    texts, labels = folder / "texts", folder / "labels"
    texts.write_text(lines(expected(family)["lines"][:5]), encoding="utf-8")
    labels.write_text(lines(["good", "bad"] * 2 + ["good"]), encoding="utf-8")
    return {"gpt2": [texts], "bert": [labels, texts]}.get(family, [texts, texts])


# What an imported run is good for


@pytest.mark.parametrize("family", ["marian", "marian-separate", "t5-1.0", "t5-1.1"])
def test_translate(synth, imported, family):
    told = expected(family)
    done = synth(
        "translate", imported(family), "--beam", "1", "--max-length", "22", input=lines(told["lines"])
    )
    assert done.stdout.splitlines() == told["written"]["greedy"]


@pytest.mark.parametrize("family", ["gpt2", "bert"])
def test_eval_inspect_and_int8_of_others(synth, imported, family, tmp_path):
    run = imported(family)
    data = [word for file in small_data(family, tmp_path) for word in ("--data", file)]
    scores = json.loads(synth("eval", run, *data, "--json").stdout)
    assert scores["loss"] > 0
    synth("inspect", run, "--text", "We know't.", "--out", tmp_path / "out")
    assert any((tmp_path / "out").iterdir())
    small = tmp_path / "int8"
    synth("export", run, "--quantize", "int8", "--run", small)
    if family == "bert":
        assert synth("classify", small, input="Resolved.\n").stdout.strip() in ("bad", "so so", "good")
    else:
        assert synth("generate", small, "--prompt", "We", "--tokens", "4").stdout.startswith("We")


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


def test_serve(synth, serve, imported):
    """What the server answers is what the commands print."""
    told = {family: expected(family) for family in ["t5-1.1", "gpt2", "bert"]}
    server = serve(*map(imported, told))
    translated = server.good(
        "/v1/translate",
        {"model": "t5-1.1", "text": told["t5-1.1"]["lines"][:3], "beam": 1, "max_length": 22},
    )
    assert [one["text"] for one in translated["results"]] == told["t5-1.1"]["written"]["greedy"][:3]
    prompt = told["gpt2"]["lines"][0]
    generated = server.good(
        "/v1/generate", {"model": "gpt2", "prompt": prompt, "tokens": 16, "temperature": 0}
    )
    assert generated["text"] == told["gpt2"]["written"][0]
    classified = server.good("/v1/classify", {"model": "bert", "text": told["bert"]["lines"]})
    assert [one["label"] for one in classified["results"]] == told["bert"]["labels"]


def test_serve_with_a_beam(synth, serve, imported):
    told = expected("marian")
    texts = told["lines"][:3]
    request = {"model": "marian", "text": texts, "beam": 4, "max_length": 22}
    served = serve(imported("marian")).good("/v1/translate", request)["results"]
    assert [one["text"] for one in served] == told["written"]["beam_default"][:3]


@pytest.mark.parametrize("family, unknown", [("marian", None), ("t5-1.1", 2)])
def test_special_tokens_in_a_text_are_tokens(synth, imported, family, unknown):
    """As transformers reads them."""
    folder = REFERENCES / family
    end = json.loads((folder / "config.json").read_text())["eos_token_id"]
    if unknown is None:
        unknown = json.loads((folder / "vocab.json").read_text())["<unk>"]
    tokens = lambda text: synth("tokenize", imported(family), "--ids", input=text).stdout.splitlines()  # noqa: E731
    first, second, third = tokens("We know't,\naway!\nhear\n")
    assert tokens("We know't, </s> away! <unk> hear\n") == [f"{first} {end} {second} {unknown} {third}"]


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


@pytest.mark.parametrize(
    "family, attention",
    [("marian", "FR+V"), ("marian", "D+V"), ("t5-1.1", "R+V"), ("gpt2", "FR+V"), ("bert", "R+V")],
)
def test_a_mixture_of_every_family(synth, imported, tmp_path, family, attention):
    """It writes what it wrote before, and one step of training changes it."""
    run, mixed = imported(family), tmp_path / "mixed"
    synth("convert", run, "--attention", attention, "--run", mixed)
    text = lines(expected(family)["lines"][:3])
    if family == "gpt2":
        command, given = ["generate", "--prompt", "We know", "--tokens", "8", "--temperature", "0"], ""
    elif family == "bert":
        command, given = ["classify"], text
    else:
        command, given = ["translate", "--max-length", "8"], text
    write = lambda where: synth(command[0], where, *command[1:], input=given).stdout  # noqa: E731
    assert write(mixed) == write(run)
    files = json.dumps([str(file) for file in small_data(family, tmp_path)])
    settings = [f"data.train={files}", "train.steps=1", "train.warmup=0", "train.save_every=1"]
    words = [word for one in settings for word in ("--set", one)]
    synth("train", "--init-from", mixed, "--run", tmp_path / "trained", *words)
    old, new = (load_file(tmp_path / name / "model.safetensors") for name in ("mixed", "trained"))
    added = [name for name in old if f".logits.{attention[:-2]}." in name]
    assert added and any(not torch.equal(old[name], new[name]) for name in added)


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


def test_many_names_of_one_storage(synth, imported, folder, tmp_path):
    """As torch.save writes a module with shared parameters and parts of tensors: each part where it is."""
    model = folder("marian")
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


def test_a_compressed_npz(synth, folder, tmp_path):
    model = folder("marian-npz")
    synth("import", model, "--run", tmp_path / "stored")
    numpy.savez_compressed(model / "model.npz", **numpy.load(model / "model.npz"))
    synth("import", model, "--run", tmp_path / "compressed")
    ours = [contents(tmp_path / name)["model.safetensors"] for name in ("stored", "compressed")]
    assert ours[0] == ours[1]


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
    refused(mistake, tmp_path / "nowhere", tmp_path, "nowhere is not a folder", "hf download")
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


def test_a_t5_without_any_tokenizer(mistake, folder, tmp_path):
    model = folder("t5-1.0")
    (model / "spiece.model").unlink()
    refused(mistake, model, tmp_path, "has no spiece.model, nor tokenizer.json")


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
    shutil.rmtree(tmp_path / "new")
    for key in ("rotary", "d_model"):  # not there, and not to be ignored
        refused(
            mistake, model, tmp_path, f"--ignore {key}: ", options=["--ignore", f"rotary_dimension,{key}"]
        )


def change_json(file, **settings):
    file.write_text(json.dumps({**json.loads(file.read_text()), **settings}))


@pytest.mark.parametrize(
    "family, file, settings, words",
    [
        ("marian", "generation_config.json", {"eos_token_id": 1}, ["'eos_token_id' is 1: only 0"]),
        ("marian", "generation_config.json", {"forced_eos_token_id": 1}, ["'forced_eos_token_id' is 1"]),
        ("marian", "generation_config.json", {"pad_token_id": 3}, ["'pad_token_id' is 3"]),
        (
            "marian",
            "generation_config.json",
            {"decoder_start_token_id": 3},
            ["'decoder_start_token_id' is 3"],
        ),
        ("marian", "generation_config.json", {"do_sample": True}, ["'do_sample' is true"]),
        ("marian", "generation_config.json", {"penalty_alpha": 0.6}, ["'penalty_alpha'", "--ignore"]),
        ("marian", "config.json", {"pruned_heads": {"0": [1]}}, ["'pruned_heads'"]),
        ("marian", "config.json", {"is_encoder_decoder": False}, ["'is_encoder_decoder' is false"]),
        ("t5-1.0", "config.json", {"is_encoder_decoder": False}, ["'is_encoder_decoder' is false"]),
        ("t5-1.0", "generation_config.json", {"eos_token_id": 2}, ["'eos_token_id' is 2"]),
        ("gpt2", "generation_config.json", {"num_beams": 4}, ["'num_beams' is 4"]),
        ("gpt2", "config.json", {"no_repeat_ngram_size": 3}, ["'no_repeat_ngram_size' is 3"]),
        ("gpt2", "config.json", {"bad_words_ids": [[3]]}, ["'bad_words_ids'"]),
        ("gpt2", "config.json", {"n_layer": 0}, ["'n_layer' is 0: it must be from 1"]),
        ("gpt2", "config.json", {"n_layer": 2**64 - 1}, ["'n_layer' is 18446744073709551615"]),
        ("gpt2", "config.json", {"eos_token_id": 2**32}, ["'eos_token_id' is 4294967296", "from 0 to 339"]),
        ("gpt2", "config.json", {"vocab_size": 2**63}, ["'vocab_size' is 9223372036854775808"]),
        ("t5-1.0", "config.json", {"eos_token_id": 500}, ["'eos_token_id' is 500: it must be from 0 to 223"]),
        (
            "marian",
            "config.json",
            {"decoder_start_token_id": 500},
            ["'decoder_start_token_id' is 500: it must be from 0 to 152"],
        ),
        ("marian", "generation_config.json", {"bad_words_ids": [[2**32 + 5]]}, ["4294967301", "0 to 152"]),
        ("marian", "generation_config.json", {"bad_words_ids": [[-7]]}, ["the token -7"]),
        ("marian", "generation_config.json", {"bad_words_ids": 1}, ["is 1: one token is supported"]),
        ("marian", "generation_config.json", {"bad_words_ids": [[3], [4]]}, ["is [[3],[4]]: one token"]),
        ("marian", "generation_config.json", {"max_length": -5}, ["'max_length' is -5: it must be from 1"]),
        ("marian", "generation_config.json", {"max_length": 2**64 - 1}, ["'max_length' is 184467440737095"]),
        ("marian", "generation_config.json", {"max_new_tokens": 0}, ["'max_new_tokens' is 0"]),
        ("marian", "generation_config.json", {"num_beams": 0}, ["'num_beams' is 0: it must be from 1 to"]),
        ("marian", "generation_config.json", {"num_beams": 10**12}, ["'num_beams' is 1000000000000"]),
        ("bert", "config.json", {"id2label": {"0": "a\nb", "1": "b", "2": "c"}}, ["'id2label'", "lines"]),
        ("bert", "config.json", {"id2label": {"0": "", "1": "b", "2": "c"}}, ["'id2label'", "empty line"]),
        ("bert", "config.json", {"id2label": {"0": "a", "1": "b", "2": "a"}}, ["names two classes 'a'"]),
        ("bert", "config.json", {"id2label": ["a", "b", "c"]}, ["'id2label' does not name the 3 classes"]),
        ("bert", "config.json", {"tokenizer_class": "BertJapaneseTokenizer"}, ["'tokenizer_class'"]),
        ("t5-1.1", "config.json", {"dense_act_fn": "silu"}, ["'dense_act_fn' is swish with a gate"]),
        ("t5-1.0", "config.json", {"dense_act_fn": "tanh"}, ["'dense_act_fn' is \"tanh\""]),
        ("bert", "tokenizer_config.json", {"pad_token": "<pad>"}, ["the added token '<pad>'"]),
        ("bert", "tokenizer_config.json", {"do_basic_tokenize": False}, ["'do_basic_tokenize' is false"]),
        ("bert", "tokenizer_config.json", {"never_split": ["[X]"]}, ["'never_split'"]),
    ],
)
def test_settings_of_texts_that_are_not_supported(mistake, folder, tmp_path, family, file, settings, words):
    model = folder(family)
    change_json(model / file, **settings)
    refused(mistake, model, tmp_path, file, *words)


@pytest.mark.parametrize("family", ["marian", "t5-1.1", "gpt2", "bert"])
@pytest.mark.parametrize(
    "file, settings",
    [
        ("added_tokens.json", {"<new>": 7}),
        ("special_tokens_map.json", {"additional_special_tokens": ["<new>"]}),
        ("tokenizer_config.json", {"additional_special_tokens": ["<new>"]}),
        ("tokenizer_config.json", {"extra_special_tokens": {"new_token": "<new>"}}),
        ("tokenizer_config.json", {"added_tokens_decoder": {"7": {"content": "<new>", "special": False}}}),
        ("tokenizer_config.json", {"mask_token": {"content": "<new>"}}),
    ],
)
def test_added_tokens(mistake, folder, tmp_path, family, file, settings):
    model = folder(family)
    (model / file).write_text(json.dumps(settings))
    refused(mistake, model, tmp_path, f"{file}: the added token '<new>' is not supported")


@pytest.mark.parametrize("family", ["t5-1.0", "gpt2", "bert"])
def test_a_tokenizer_that_transformers_saved(synth, mistake, imported, saved, tmp_path, family):
    """It has the tokens of the folder's own files, and no other added tokens."""
    model, told = saved(family), expected(family)
    synth("import", model, "--run", tmp_path / "run")
    text = lines(line for line in told["lines"] if "\n" not in line)
    ours, theirs = (
        synth("tokenize", run, "--ids", input=text).stdout for run in (tmp_path / "run", imported(family))
    )
    assert ours == theirs
    added = json.loads((model / "tokenizer.json").read_text())["added_tokens"]
    added.append({"id": 7, "content": "<new>", "special": False})
    change_json(model / "tokenizer.json", added_tokens=added)
    refused(mistake, model, tmp_path, "tokenizer.json: the added token '<new>' is not supported")


OLDER = {
    "t5-1.0": {
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Strip", "strip_left": False, "strip_right": True},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "▁"},
            ],
        },
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True},
    },
    "gpt2": {
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
        "post_processor": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False},
    },
    "bert": {"post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}},
}


@pytest.mark.parametrize("family", OLDER)
def test_a_tokenizer_that_older_versions_saved(synth, imported, saved, tmp_path, family):
    """Other words for the same."""
    model, told = saved(family), expected(family)
    tokenizer = {**json.loads((model / "tokenizer.json").read_text()), **OLDER[family]}
    del tokenizer["model"]["type"]
    if family == "gpt2":
        tokenizer["model"]["merges"] = [" ".join(merge) for merge in tokenizer["model"]["merges"]]
    (model / "tokenizer.json").write_text(json.dumps(tokenizer))
    synth("import", model, "--run", tmp_path / "run")
    text = lines(line for line in told["lines"] if "\n" not in line)
    ours, theirs = (
        synth("tokenize", run, "--ids", input=text).stdout for run in (tmp_path / "run", imported(family))
    )
    assert ours == theirs


@pytest.mark.parametrize("file", ["tokenizer.json", "spiece.model"])
def test_a_t5_that_changes_characters(synth, folder, tmp_path, file):
    """tokenizer.json has all that spiece.model has: the same tokens, which are those of transformers."""
    model, own = folder("t5-1.0"), SAVED / "t5-characters"
    told = json.loads((own / "expected.json").read_text(encoding="utf-8"))
    (model / "spiece.model").unlink()
    shutil.copy(own / file, model / file)
    synth("import", model, "--run", tmp_path / "run")
    done = synth("tokenize", tmp_path / "run", "--ids", input=lines(told["lines"]))
    assert [[int(word) for word in line.split()] for line in done.stdout.split("\n")[:-1]] == [
        ids[:-1] for ids in told["tokens"]
    ]
    synth("export", tmp_path / "run", "--to", "huggingface", "--out", tmp_path / "back")
    synth("import", tmp_path / "back", "--run", tmp_path / "again")
    again = synth("tokenize", tmp_path / "again", "--ids", input=lines(told["lines"]))
    assert again.stdout == done.stdout


@pytest.mark.parametrize(
    "family, part, settings, words",
    [
        ("gpt2", "", {"normalizer": {"type": "Lowercase"}}, ['\'normalizer\' is {"type":"Lowercase"}']),
        ("gpt2", "pre_tokenizer", {"add_prefix_space": True}, ["pre_tokenizer: 'add_prefix_space' is true"]),
        ("gpt2", "pre_tokenizer", {"use_regex": False}, ["'use_regex' is false"]),
        ("gpt2", "model", {"end_of_word_suffix": "</w>"}, ["model: 'end_of_word_suffix' is \"</w>\""]),
        ("gpt2", "model", {"ignore_merges": True}, ["'ignore_merges' is true"]),
        ("gpt2", "model", {"magic": 1}, ["'magic' is 1, and its meaning is unknown here"]),
        ("bert", "", {"normalizer": None}, ["'normalizer' is missing: only BertNormalizer is supported"]),
        ("bert", "normalizer", {"clean_text": False}, ["normalizer: 'clean_text' is false"]),
        ("bert", "", {"pre_tokenizer": {"type": "WhitespaceSplit"}}, ["pre_tokenizer: 'type' is"]),
        ("bert", "", {"post_processor": None}, ["makes A of a text A: only [CLS] A [SEP] is supported"]),
        ("bert", "model", {"continuing_subword_prefix": "@@"}, ["'continuing_subword_prefix' is \"@@\""]),
        ("bert", "model", {"max_input_chars_per_word": 3}, ["'max_input_chars_per_word' is 3"]),
        ("t5-1.0", "", {"normalizer": {"type": "Lowercase"}}, ["normalizer: 'type' is \"Lowercase\""]),
        ("t5-1.0", "", {"pre_tokenizer": {"type": "Sequence"}}, ["'pre_tokenizer' has no Metaspace"]),
        ("t5-1.0", "", {"post_processor": None}, ["makes A of a text A: only A </s> is supported"]),
        ("t5-1.0", "model", {"byte_fallback": True}, ["'byte_fallback' is true"]),
        ("t5-1.0", "model", {"unk_id": 1000}, ["'unk_id' is 1000"]),
        ("t5-1.0", "model", {"vocab": [["a"]]}, ["'vocab' is not a list of pieces and their scores"]),
        (
            "t5-1.0",
            "",
            {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "§"}},
            ["'precompiled_charsmap' is damaged"],
        ),
    ],
)
def test_tokenizers_of_another_kind(mistake, saved, tmp_path, family, part, settings, words):
    model = saved(family)
    tokenizer = json.loads((model / "tokenizer.json").read_text())
    (tokenizer[part] if part else tokenizer).update(settings)
    (model / "tokenizer.json").write_text(json.dumps(tokenizer))
    refused(mistake, model, tmp_path, "tokenizer.json: ", *words)


def test_spaces_beside_an_added_token(mistake, synth, folder, tmp_path):
    """They are text to GPT-2, and dropped anyway by the others."""
    token = {"content": "<|endoftext|>", "lstrip": True}
    model = folder("gpt2")
    (model / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": {"0": token}}))
    refused(mistake, model, tmp_path, "'lstrip' of the added token '<|endoftext|>' is true")
    shutil.rmtree(model)
    model = folder("t5-1.0")
    token["content"] = "<extra_id_0>"
    (model / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": {"119": token}}))
    synth("import", model, "--run", tmp_path / "run")


@pytest.mark.parametrize(
    "family, settings, activation",
    [
        ("t5-1.0", {"dense_act_fn": "silu"}, "swish"),
        ("t5-1.0", {"dense_act_fn": "gelu_new", "is_gated_act": False}, "gelu-tanh"),
        ("t5-1.1", {}, "gated-gelu-tanh"),
        ("t5-1.1", {"dense_act_fn": "relu"}, "gated-relu"),
        ("t5-1.1", {"feed_forward_proj": "relu", "dense_act_fn": "gelu", "is_gated_act": True}, "gated-gelu"),
    ],
)
def test_the_activation_of_t5(synth, folder, tmp_path, family, settings, activation):
    """dense_act_fn and is_gated_act are what transformers computes with."""
    model = folder(family)
    change_json(model / "config.json", **settings)
    synth("import", model, "--run", tmp_path / "run")
    assert recipe_of(tmp_path / "run")["model"]["activation"] == activation


def test_the_end_is_never_forbidden(synth, folder, tmp_path):
    """transformers takes it off the bad words."""
    model = folder("marian")
    for name, bad in [("end", [[0]]), ("none", None), ("one", [[5]])]:
        change_json(model / "generation_config.json", bad_words_ids=bad)
        synth("import", model, "--run", tmp_path / name)
    end, none, one = (
        (tmp_path / name / "tokenizer.target.model").read_bytes() for name in ("end", "none", "one")
    )
    assert end == none != one


def recipe_of(run):
    return tomllib.loads((run / "config.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "family, settings, wanted",
    [
        ("marian", {"max_length": 24}, {"max_length": 22, "forced_end": True}),
        ("marian", {"max_new_tokens": 9}, {"max_length": 8, "forced_end": True}),
        ("marian", {"forced_eos_token_id": None}, {"max_length": 23, "forced_end": False}),
        ("marian", {"renormalize_logits": True}, {"renormalize": True}),
        ("t5-1.0", {}, {"max_length": 0, "forced_end": False}),
        ("t5-1.0", {"max_length": 20}, {"max_length": 19, "forced_end": False}),
        ("t5-1.0", {"max_new_tokens": 9, "forced_eos_token_id": 1}, {"max_length": 8, "forced_end": True}),
    ],
)
def test_lengths_and_the_end(synth, folder, tmp_path, family, settings, wanted):
    model = folder(family)
    change_json(model / "generation_config.json", **settings)
    synth("import", model, "--run", tmp_path / "run")
    decode = recipe_of(tmp_path / "run")["decode"]
    assert {key: decode[key] for key in wanted} == wanted
    synth("export", tmp_path / "run", "--to", "huggingface", "--out", tmp_path / "back")
    back = json.loads((tmp_path / "back" / "generation_config.json").read_text())
    assert ("forced_eos_token_id" in back) == decode["forced_end"]
    assert back.get("renormalize_logits", False) == decode["renormalize"]
    synth("import", tmp_path / "back", "--run", tmp_path / "again")
    again = recipe_of(tmp_path / "again")["decode"]
    assert {key: again[key] for key in wanted if decode[key] != 0} == {
        key: value for key, value in wanted.items() if decode[key] != 0
    }


def test_a_text_without_a_forced_end(synth, folder, tmp_path):
    """As T5 of transformers: one token more, and no end."""
    model, told = folder("t5-1.0"), expected("t5-1.0")
    change_json(model / "generation_config.json", max_length=24, num_beams=4)
    synth("import", model, "--run", tmp_path / "run")
    written = synth("translate", tmp_path / "run", input=lines(told["lines"])).stdout
    assert written.splitlines() == told["written"]["beam_cut"]


OPUS_MT = {
    "_name_or_path": "/tmp/Helsinki-NLP/opus-mt-en-de",
    "_num_labels": 3,
    "add_bias_logits": False,
    "add_final_layer_norm": False,
    "classif_dropout": 0.0,
    "classifier_dropout": 0.0,
    "do_blenderbot_90_layernorm": False,
    "extra_pos_embeddings": 153,
    "gradient_checkpointing": False,
    "id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"},
    "label2id": {"LABEL_0": 0, "LABEL_1": 1, "LABEL_2": 2},
    "max_length": 60,
    "normalize_before": False,
    "normalize_embedding": False,
    "num_beams": 6,
    "num_hidden_layers": 2,
    "output_past": True,
    "save_step": 12,
    "static_position_embeddings": True,
    "torch_dtype": "float16",
}


def test_the_settings_of_opus_mt(synth, folder, tmp_path):
    """All keys that the folders of OPUS-MT have."""
    model = folder("marian")
    change_json(model / "config.json", bad_words_ids=[[152]], bos_token_id=0, **OPUS_MT)
    generation = {
        "bad_words_ids": [[152]],
        "bos_token_id": 0,
        "decoder_start_token_id": 152,
        "eos_token_id": 0,
        "forced_eos_token_id": 0,
        "max_length": 60,
        "num_beams": 4,
        "pad_token_id": 152,
        "renormalize_logits": True,
        "transformers_version": "4.32.0.dev0",
    }
    (model / "generation_config.json").write_text(json.dumps(generation))
    synth("import", model, "--run", tmp_path / "run")
    decode = recipe_of(tmp_path / "run")["decode"]
    wanted = {"beam": 4, "max_length": 58, "renormalize": True, "forced_end": True}
    assert {key: decode[key] for key in wanted} == wanted
    (model / "generation_config.json").unlink()  # an older folder
    synth("import", model, "--run", tmp_path / "older")
    assert recipe_of(tmp_path / "older")["decode"]["beam"] == 6


MARIAN_YML = {
    "bert-train-type-embeddings": "true",
    "bert-type-vocab-size": "2",
    "dec-cell": "gru",
    "dim-rnn": "1024",
    "enc-type": "bidirectional",
    "input-types": "\n  []",
    "layer-normalization": "false",
    "right-left": "false",
    "tied-embeddings": "false",
    "transformer-aan-depth": "2",
    "transformer-decoder-dim-ffn": "0",
    "transformer-guided-alignment-layer": "last",
    "transformer-pool": "false",
    "transformer-tied-layers": "\n  []",
    "ulr": "false",
    "version": "v1.9.0 2020-01-01",
}


@pytest.fixture
def marian_files(folder):
    """A folder of Marian with more settings of the model and of the search."""

    def get(model_settings, search=""):
        model = folder("marian-npz")
        arrays = dict(numpy.load(model / "model.npz"))
        text = bytes(arrays["special:model.yml"]).rstrip(b"\0").decode()
        text += "".join(f"{key}: {value}\n" for key, value in model_settings.items())
        arrays["special:model.yml"] = numpy.frombuffer(text.encode() + b"\0", "int8")
        numpy.savez(model / "model.npz", **arrays)
        (model / "decoder.yml").write_text((model / "decoder.yml").read_text() + search)
        return model

    return get


def test_the_settings_of_marian(synth, marian_files, tmp_path):
    model = marian_files(MARIAN_YML, "relative-paths: true\nmini-batch: 1\nmaxi-batch-sort: none\n")
    synth("import", model, "--run", tmp_path / "run")


@pytest.mark.parametrize(
    "model_settings, search, words",
    [
        ({"right-left": "true"}, "", ["'right-left' is 'true'"]),
        ({"transformer-pool": "true"}, "", ["'transformer-pool' is 'true'"]),
        ({"transformer-decoder-dim-ffn": "32"}, "", ["'transformer-decoder-dim-ffn' is '32'"]),
        ({"input-types": "[class, sequence]"}, "", ["'input-types' is 'class'"]),
        ({"transformer-magic": "1"}, "", ["'transformer-magic' is '1'", "--ignore transformer-magic"]),
        ({"enc-depth": "524288"}, "", ["fewer than the 524288 layers"]),
        ({}, "shortlist: lex.s2t\n", ["decoder.yml", "'shortlist'"]),
        ({}, "output-sampling: true\n", ["decoder.yml", "'output-sampling'"]),
        ({}, "beam-size: 6x\n", ["decoder.yml", "'beam-size' is '6x': it must be a whole number"]),
        ({}, "beam-size: 0\n", ["'beam-size' is '0'"]),
        ({}, "normalize: abc\n", ["'normalize' is 'abc': it must be a number"]),
        ({}, "word-penalty: abc\n", ["'word-penalty' is 'abc': it must be a number"]),
        ({}, "word-penalty: 0.5\n", ["'word-penalty' is '0.5': only 0 is supported"]),
        ({"enc-depth": "0"}, "", ["'enc-depth' is '0'"]),
        ({"dim-emb": "16wide"}, "", ["'dim-emb' is '16wide'"]),
    ],
)
def test_settings_of_marian_that_are_not_supported(
    mistake, marian_files, tmp_path, model_settings, search, words
):
    refused(mistake, marian_files(model_settings, search), tmp_path, *words)


def test_the_files_that_marian_writes_itself(synth, mistake, imported, folder, tmp_path):
    """model.npz.decoder.yml, with the paths of the machine that trained; other settings of the search."""
    model = folder("marian-npz")
    text = (model / "decoder.yml").read_text().replace("- ", "- /elsewhere/")
    (model / "decoder.yml").unlink()
    settings = "relative-paths: false\nn-best: true\nallow-unk: true\nmax-length-factor: 2\n"
    (model / "model.npz.decoder.yml").write_text(text + settings)
    synth("import", model, "--run", tmp_path / "run")
    again = contents(tmp_path / "run")["model.safetensors"]
    assert again == contents(imported("marian-npz"))["model.safetensors"]
    shutil.copy(model / "model.npz.decoder.yml", model / "model.npz.best-bleu.npz.decoder.yml")
    refused(mistake, model, tmp_path, "several files .npz.decoder.yml", "decoder.yml")


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
def test_wrong_weights_of_others(mistake, folder, tmp_path, family, name, change, found, wanted):
    model = folder(family)
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
def test_wrong_weights_of_marian(mistake, folder, tmp_path, name, change, found, wanted):
    model = folder("marian-npz")
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
def test_more_layers_than_the_weights_have(mistake, folder, tmp_path, family, key):
    """They are refused before memory is taken for them."""
    model = folder(family)
    change_json(model / "config.json", **{key: 524288})
    refused(mistake, model, tmp_path, "fewer than the 524288 layers")


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
        archive.writestr("archive/data.pkl", b"\x80\x02" + b")" + b"\x85" * 300000 + b".")
    refused(mistake, model, tmp_path, "does not hold weights by name")


def test_what_lies_upon_itself(mistake, folder, tmp_path):
    """A small file that would be a large model."""
    model = folder("marian")
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
def test_json_that_is_nested_deep(mistake, folder, tmp_path, file, text):
    """Nothing calls itself for each level of it."""
    model = folder("marian")
    if "index" in file:
        (model / "model.safetensors").unlink()
    (model / file).write_text(text % ("[" * 200_000 + "]" * 200_000))
    refused(mistake, model, tmp_path, f"{file} is damaged: it is nested more than 100 deep")


@pytest.mark.parametrize("where", ["{}", '{"a": 1}', '["a"]', "7", "null"])
def test_an_index_without_files(mistake, folder, tmp_path, where):
    model = folder("marian")
    (model / "model.safetensors").unlink()
    (model / "model.safetensors.index.json").write_text('{"weight_map": ' + where + "}")
    refused(mistake, model, tmp_path, "does not say which file has which tensor")


def test_long_names_and_values_are_cut(mistake, folder, tmp_path):
    model = folder("marian")
    config = json.loads((model / "config.json").read_text())
    for name, value in [("zzz", "ж" * 100_000), ("zzz", list(range(100_000))), ("z" * 100_000, 1)]:
        (model / "config.json").write_text(json.dumps({**config, name: value}))
        line = mistake("import", model, "--run", tmp_path / "new", words=["'zzz", "…", "is unknown here"])
        assert len(line) < 600
    (model / "config.json").write_text(json.dumps(config))
    weights = load_file(model / "model.safetensors")
    save_file({**weights, "x" * 100_000: torch.ones(2)}, model / "model.safetensors")
    line = mistake("import", model, "--run", tmp_path / "new", words=["no place for: xxx", "…"])
    assert len(line) < 400


@pytest.mark.parametrize("file", ["model.safetensors", "source.spm", "vocab.json", "config.json"])
def test_a_pointer_of_git_lfs(mistake, folder, tmp_path, file):
    model = folder("marian")
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


def test_small_files_do_not_fill_the_memory(folder, tmp_path):
    """At most 64 MB beyond the size of the file (CONTRIBUTING.md)."""
    model, run = folder("marian"), tmp_path / "run"
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


def test_an_npz_that_is_larger_than_it_looks(folder, tmp_path):
    model, run = folder("marian-npz"), tmp_path / "run"
    with zipfile.ZipFile(model / "model.npz", "a", zipfile.ZIP_DEFLATED) as archive:
        for n in range(4):
            archive.writestr(f"zeros{n}.npy", bytes(100_000_000))
    used, said = peak_memory(model, run)
    assert "model.npz would have more than" in said and "without compression" in said
    assert used < 300


def test_an_empty_tensor(mistake, folder, tmp_path):
    model = folder("marian")
    weights = load_file(model / "model.safetensors")
    (model / "model.safetensors").unlink()
    torch.save({**weights, "x": torch.zeros(0, 3)}, model / "pytorch_model.bin")
    refused(mistake, model, tmp_path, "tensor 'x' is empty")


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
        options = {"min_decoding_length": 0, "max_decoding_length": 22}
        results = translator.translate_batch(fed, beam_size=1, **options)
        for result, ids in zip(results, told["found"]["greedy"]):
            assert result.hypotheses[0][:22] == [targets[token] for token in ids]


@pytest.mark.parametrize("family", ["marian", "marian-separate"])
def test_ctranslate2_with_a_beam(synth, imported, tmp_path, family):
    """Of a fixed length, for ends and lengths are weighed by other rules there."""
    ctranslate2 = pytest.importorskip("ctranslate2")
    run, out, text = imported(family), tmp_path / "out", lines(expected(family)["lines"])
    synth("export", run, "--to", "ctranslate2", "--out", out)
    translator = ctranslate2.Translator(str(out), intra_threads=1)
    fed = [line.split() for line in synth("tokenize", run, input=text).stdout.splitlines()]
    lengths = {"min_decoding_length": 22, "max_decoding_length": 22}
    found = translator.translate_batch(fed, beam_size=4, length_penalty=1, **lengths)
    file = "shared_vocabulary.json" if family == "marian" else "target_vocabulary.json"
    words = json.loads((out / file).read_text())
    ids = [" ".join(str(words.index(word)) for word in one.hypotheses[0]) for one in found]
    theirs = synth("tokenize", run, "--side", "target", "--decode", input=lines(ids)).stdout
    options = ["--beam", "4", "--length-penalty", "1", "--min-length", "22", "--max-length", "22"]
    assert synth("translate", run, *options, "--no-forced-end", "--renormalize", input=text).stdout == theirs


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
