"""Language models through the command line: every tokenizer, every part of the model, measured and used."""

import gzip
import itertools
import json
import math

import pytest
import tensors
from program import metrics


def evaluate(synth, run, *data):
    return json.loads(synth("eval", run, "--json", *(["--data", *data] if data else [])).stdout)


def counts(path):
    """Lines, words and characters of a text; the end of a line is a word and a character too."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return len(lines), sum(len(line.split()) + 1 for line in lines), sum(len(line) + 1 for line in lines)


TOKENIZERS = {"characters": 0, "bytes": 0, "words": 200, "unigram": 150, "bpe": 150}


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("sequence", ["stream", "lines"])
def test_every_tokenizer(synth, train, language_recipe, text, tmp_path, tokenizer, sequence):
    settings = [f"data.tokenizer={tokenizer}", f"data.vocabulary={TOKENIZERS[tokenizer]}"]
    settings += [f"data.sequence={sequence}", "model.max_length=80"]
    run = train(language_recipe, tmp_path / "run", *settings)
    found = evaluate(synth, run)
    assert set(found) >= {"loss", "perplexity", "word_perplexity", "bits_per_character", "tokens"}
    if sequence == "lines":  # lines without tokens have nothing to predict
        kept = tmp_path / "kept.txt"
        whole = (text / "dev.txt").read_text(encoding="utf-8").splitlines()
        kept.write_text("".join(line + "\n" for line in whole if line), encoding="utf-8")
        _, words, characters = counts(kept)
    else:
        _, words, characters = counts(text / "dev.txt")
    nll = found["loss"] * found["tokens"]
    assert found["perplexity"] == pytest.approx(math.exp(found["loss"]))
    assert found["word_perplexity"] == pytest.approx(math.exp(nll / words))
    assert found["bits_per_character"] == pytest.approx(nll / characters / math.log(2))
    exact = {"characters": characters, "bytes": characters, "words": words}  # the text is ASCII
    assert found["tokens"] == exact.get(tokenizer, found["tokens"])
    assert words <= found["tokens"] <= characters + counts(text / "dev.txt")[0]
    assert synth("generate", run, "--prompt", "the", "--tokens", "20").stdout.startswith("the")


def test_it_learns(train, language_recipe, tmp_path):
    run = train(
        language_recipe, tmp_path / "run", "train.steps=150", "train.eval_every=50", "model.dropout=0"
    )
    losses = [line["loss"] for line in metrics(run, "dev")]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 3 < math.log(65)  # even odds for every character would be the latter


def test_evaluation_is_that_of_training(synth, language_run):
    dev = metrics(language_run, "dev")[-1]
    found = evaluate(synth, language_run)
    assert found.pop("unknown_percent") < 1
    assert found == pytest.approx({key: dev[key] for key in found})


def test_splits_and_files(synth, language_run, text):
    assert evaluate(synth, language_run, text / "dev.txt") == evaluate(synth, language_run, "dev")
    assert evaluate(synth, language_run, "train")["tokens"] == counts(text / "train.txt")[2]


def test_several_files_are_one_text(synth, language_run, text, tmp_path):
    whole = (text / "dev.txt").read_text().splitlines(keepends=True)
    (tmp_path / "a").write_text("".join(whole[:17]))
    (tmp_path / "b").write_text("".join(whole[17:]))
    both = evaluate(synth, language_run, tmp_path / "a", tmp_path / "b")
    assert both == evaluate(synth, language_run, text / "dev.txt")


def test_a_split_that_the_recipe_has_not(mistake, language_run):
    mistake("eval", language_run, "--data", "test", words=["data.test"])


@pytest.fixture(scope="module")
def formats(text, tmp_path_factory):
    """The same lines in every format, as {train,dev}.FORMAT."""
    folder = tmp_path_factory.mktemp("formats")
    for split in ["train", "dev"]:
        lines = (text / f"{split}.txt").read_text().splitlines()
        tsv = "id\ttext\n" + "".join(f"{n}\t{line}\n" for n, line in enumerate(lines))
        jsonl = "".join(json.dumps({"id": n, "text": line}) + "\n" for n, line in enumerate(lines))
        crlf = "".join(line + "\r\n" for line in lines)
        for name, whole in [("tsv", tsv), ("jsonl", jsonl), ("crlf", crlf)]:
            (folder / f"{split}.{name}").write_text(whole, newline="")
        for name, whole in [("txt", "\n".join(lines) + "\n"), ("tsv", tsv), ("jsonl", jsonl)]:
            (folder / f"{split}.{name}.gz").write_bytes(gzip.compress(whole.encode()))
    return folder


@pytest.mark.parametrize("form", ["tsv", "jsonl", "crlf", "txt.gz", "tsv.gz", "jsonl.gz"])
def test_every_format_is_the_same_text(train, language_recipe, language_run, formats, tmp_path, form):
    files = [f"data.root={formats}", f"data.train=train.{form}", f"data.dev=dev.{form}"]
    columns = ["data.columns=text"] if "tsv" in form or "json" in form else []
    run = train(language_recipe, tmp_path / "run", *files, *columns)
    assert metrics(run, "dev") == metrics(language_run, "dev")
    tensors.same(run / "model.safetensors", language_run / "model.safetensors")


def test_a_table_of_pairs_is_as_good_as_two_files(train, translation_recipe, numbers, tmp_path):
    for split in ["train", "dev"]:
        sides = [
            (numbers / f"{split}.{side}").read_text(encoding="utf-8").splitlines() for side in ["en", "de"]
        ]
        rows = "".join(f"{target}\t{source}\n" for source, target in zip(*sides))
        (tmp_path / f"{split}.tsv").write_text("german\tenglish\n" + rows, encoding="utf-8")
    files = [f"data.root={tmp_path}", "data.train=train.tsv", "data.dev=dev.tsv"]
    table = train(translation_recipe, tmp_path / "table", *files, 'data.columns=["english", "german"]')
    apart = train(translation_recipe, tmp_path / "apart")
    tensors.same(table / "model.safetensors", apart / "model.safetensors")
    assert metrics(table, "dev") == metrics(apart, "dev")


def test_generating(synth, language_run):
    def text(*options):
        return synth("generate", language_run, "--prompt", "ROMEO:", "--tokens", "60", *options).stdout

    first = text("--seed", "1")
    assert first.startswith("ROMEO:") and first.endswith("\n")
    assert 30 < len(first) - len("ROMEO:\n") <= 60  # longer than max_length, which is 16
    assert text("--seed", "1") == first == text()
    assert text("--seed", "2") != first
    coldest = text("--temperature", "0")
    assert text("--temperature", "0", "--seed", "2") == coldest
    assert text("--top-k", "1", "--seed", "3") == coldest
    assert text("--top-p", "0", "--seed", "3") == coldest
    assert text("--temperature", "3") != first


def test_generating_from_nothing_and_nothing(synth, language_run):
    assert len(synth("generate", language_run, "--tokens", "30").stdout) > 10
    assert synth("generate", language_run, "--tokens", "0", "--prompt", "so").stdout == "so\n"


def test_a_prompt_of_several_lines_longer_than_the_model(synth, language_run):
    prompt = "First Citizen:\nBefore we proceed any further, hear me speak.\n"
    assert synth("generate", language_run, "--prompt", prompt, "--tokens", "5").stdout.startswith(prompt)


def test_characters_never_seen(synth, language_run, tmp_path):
    (tmp_path / "odd.txt").write_text("日本 ß\n", encoding="utf-8")
    found = evaluate(synth, language_run, tmp_path / "odd.txt")
    assert found["tokens"] == 5 and math.isfinite(found["loss"])
    assert synth("generate", language_run, "--prompt", "日本", "--tokens", "3").stdout.startswith("日本")


GENERATE_MISTAKES = [
    (["--temperature", "-1"], ["temperature", "-1"]),
    (["--temperature", "nan"], ["temperature"]),
    (["--top-p", "1.5"], ["top_p", "1.5"]),
    (["--top-k", "-1"], ["top_k", "-1"]),
    (["--tokens", "-1"], ["--tokens"]),
    (["--tokens", "many"], ["--tokens", "many"]),
    (["--token", "3"], ["'--token'", "did you mean '--tokens'"]),
]


@pytest.mark.parametrize("options, words", GENERATE_MISTAKES, ids=[" ".join(m[0]) for m in GENERATE_MISTAKES])
def test_mistakes_of_generate(mistake, language_run, options, words):
    mistake("generate", language_run, *options, words=words)


# Each value of each with each other's, not all with all.
NORMS = list(itertools.product(["layer", "rms"], ["pre", "post"]))
POSITIONS = ["sinusoidal", "learned", "relative", "none"]
ACTIVATIONS = ["relu", "gelu", "gated-relu", "gated-gelu"]
PARTS = [(p, *NORMS[(n + m) % 4], a) for n, p in enumerate(POSITIONS) for m, a in enumerate(ACTIVATIONS)]


@pytest.mark.parametrize("positions, norm, place, activation", PARTS)
def test_parts_of_the_model(
    train, language_recipe, translation_recipe, tmp_path, positions, norm, place, activation
):
    settings = [f"model.positions={positions}", f"model.norm={norm}", f"model.norm_place={place}"]
    settings += [f"model.activation={activation}", "model.attention=R+V", "train.steps=2"]
    recipe = language_recipe if activation.startswith("gated") else translation_recipe
    run = train(recipe, tmp_path / "run", *settings)
    assert {line["split"] for line in metrics(run)} == {"train", "dev", "mixture"}
    found = metrics(run, "train") + metrics(run, "dev")
    assert all(math.isfinite(line["loss"]) and 1 < line["loss"] < 10 for line in found)


SETTINGS = {
    "bfloat16": ["train.precision=bfloat16"],
    "adamw": ["train.optimizer=adamw", "train.weight_decay=0.1"],
    "adafactor": ["train.optimizer=adafactor"],
    "accumulated": ["train.accumulate=3"],
    "no warm-up": ["train.warmup=0"],
    "noam": ["train.schedule=noam", "train.learning_rate=1"],
    "linear": ["train.schedule=linear"],
    "cosine": ["train.schedule=cosine", "train.final_learning_rate=1e-4"],
    "inverse square root": ["train.schedule=inverse-sqrt"],
    "smoothed": ["train.label_smoothing=0.2"],
    "without biases": ["model.bias=false"],
    "untied": ["model.tied=false"],
    "all dropouts": ["model.dropout=0.3", "model.attention_dropout=0.3", "model.activation_dropout=0.3"],
    "few examples a batch": ["train.batch_examples=1"],
    "one thread": ["train.threads=1"],
    "windows shorter than the model": ["data.max_length=7"],
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
def test_ways_to_train(train, language_recipe, language_run, tmp_path, settings):
    run = train(language_recipe, tmp_path / "run", *settings)
    found = metrics(run)
    assert all(math.isfinite(line["loss"]) and 1 < line["loss"] < 10 for line in found)
    usual = [line["loss"] for line in metrics(language_run)]
    assert settings == ["train.threads=1"] or [line["loss"] for line in found] != usual


def test_an_attention_for_every_layer(train, language_recipe, tmp_path):
    settings = ["model.layers=3", 'model.attention=["R", "V", "D+R"]']
    names = tensors.read(train(language_recipe, tmp_path / "run", *settings) / "model.safetensors")
    synthesis = {name.split(".attention.")[0] + " " + name.split(".logits.")[1].split(".")[0]
                 for name in names if ".logits." in name}  # fmt: skip
    assert {
        "decoder.layers.0 R",
        "decoder.layers.1 V",
        "decoder.layers.2 D",
        "decoder.layers.2 R",
    } <= synthesis
    assert not {"decoder.layers.0 V", "decoder.layers.1 R"} & synthesis


def test_an_attention_for_every_side(train, translation_recipe, tmp_path):
    settings = ["model.encoder_attention=R", 'model.decoder_attention=["FD", "V"]', "model.decoder_layers=2"]
    names = tensors.read(train(translation_recipe, tmp_path / "run", *settings) / "model.safetensors")
    assert "encoder.layers.0.attention.logits.R.table" in names
    assert "decoder.layers.0.attention.logits.FD.hidden.weight" in names
    assert "decoder.layers.1.attention.logits.V.query.weight" in names
    assert not any(name.startswith("encoder.layers.1.") for name in names)


def test_patience_ends_a_run(synth, language_recipe, tmp_path):
    stuck = ["--set", "train.learning_rate=0", "--set", "train.patience=2", "--set", "train.steps=100"]
    done = synth("train", language_recipe, "--run", tmp_path / "run", *stuck)
    assert [line["step"] for line in metrics(tmp_path / "run", "dev")] == [2, 4, 6]
    assert "stopped without improvement on dev after" in done.stderr and "best at step 2" in done.stderr


def test_a_run_without_dev(train, synth, language_recipe, tmp_path, text):
    run = train(language_recipe, tmp_path / "run", "data.dev=[]")
    assert not metrics(run, "dev")
    assert tensors.metadata(run / "model.safetensors")["step"] == "4"
    assert math.isfinite(evaluate(synth, run, text / "dev.txt")["loss"])


def test_the_summary(synth, language_recipe, tmp_path):
    said = synth("train", language_recipe, "--run", tmp_path / "run").stderr
    weights = tensors.read(tmp_path / "run" / "model.safetensors")
    total = sum(array.size for name, array in weights.items())
    for words in [
        "embeddings",
        "synthesis",
        "feed-forward",
        "parameters",
        f"{total:,}",
        "memory",
        "tokens",
        "step 4/4",
    ]:
        assert words in said
