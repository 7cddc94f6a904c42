"""synth import: what imported runs compute, and their export to CTranslate2, on models of tests/interop."""

import json

import pytest
import torch
from import_fixtures import REFERENCES, expected, lines, refused
from program import metrics
from safetensors.torch import load_file


def small_data(family, place):
    """Files that a run of this family can be evaluated on and trained with."""
    texts, labels = place / "texts", place / "labels"
    texts.write_text(lines(expected(family)["lines"][:5]), encoding="utf-8")
    labels.write_text(lines(["good", "bad"] * 2 + ["good"]), encoding="utf-8")
    return {"gpt2": [texts], "bert": [labels, texts]}.get(family, [texts, texts])


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


# Mistakes


def test_what_is_not_a_model(mistake, tmp_path, model_folder):
    refused(mistake, tmp_path / "nowhere", tmp_path, "nowhere is not a folder", "hf download")
    (tmp_path / "empty").mkdir()
    refused(mistake, tmp_path / "empty", tmp_path, "no config.json")
    (tmp_path / "empty" / "config.json").write_text("[1")
    refused(mistake, tmp_path / "empty", tmp_path, "config.json is damaged")
    (tmp_path / "empty" / "config.json").write_text('{"model_type": "llama"}')
    refused(mistake, tmp_path / "empty", tmp_path, "'model_type' is \"llama\"", "marian")
    model = model_folder("marian")
    (model / "model.safetensors").unlink()
    refused(mistake, model, tmp_path, "has no weights")


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
