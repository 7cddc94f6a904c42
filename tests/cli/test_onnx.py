"""synth export --to onnx: onnxruntime computes what we compute, from the exported folder alone."""

import json
import resource
import signal

import numpy
import pytest
import tensors
from import_fixtures import REFERENCES
from tensors import contents

onnxruntime = pytest.importorskip("onnxruntime")

TOLERANCE = 1e-4
VARIANTS = ["V", "D", "R", "Fix", "FR", "FD"]
LINES = ["one", "twenty-one", "", "three hundred and eleven", "nine thousand nine hundred"]


class Exported:
    """A folder that `synth export` made, in onnxruntime."""

    def __init__(self, folder):
        self.config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.sessions = {
            name: onnxruntime.InferenceSession(folder / name, options, providers=["CPUExecutionProvider"])
            for name in self.config["files"]
        }
        for name, session in self.sessions.items():
            told = self.config["files"][name]
            assert [one.name for one in session.get_inputs()] == told["inputs"]
            assert [one.name for one in session.get_outputs()] == told["outputs"]
        self.pieces = {
            name: json.loads((folder / text["vocabulary"]).read_text(encoding="utf-8"))
            for name, text in self.config["texts"].items()
        }

    def run(self, file, **inputs):
        (result,) = self.sessions[file].run(None, inputs)
        assert numpy.isfinite(result).all()
        return result

    def row(self, name, line):
        """The tokens of a line, for a tokenizer of characters."""
        text, number = self.config["texts"][name], {piece: n for n, piece in enumerate(self.pieces[name])}
        before = [text["begin"]] if text["begin"] is not None else []
        return [*before, *(number[character] for character in line), text["end"]]

    def logits(self, source, source_lengths, target):
        memory = self.run("encoder.onnx", source=source, source_lengths=source_lengths)
        return self.run("decoder.onnx", memory=memory, source_lengths=source_lengths, target=target)


def padded(rows):
    """Rows side by side, what follows the shorter ones being any token, and their lengths."""
    lengths = numpy.array([len(row) for row in rows])
    ids = numpy.full((len(rows), max(lengths)), 5)
    for row, tokens in zip(ids, rows):
        row[: len(tokens)] = tokens
    return ids, lengths


def log_softmax(logits):
    shifted = logits.astype("f8") - logits.max(-1, keepdims=True)
    return shifted - numpy.log(numpy.exp(shifted).sum(-1, keepdims=True))


def mean_loss(logits, rows):
    """Of the rows' tokens but the first, each from those before it."""
    shares = log_softmax(logits)
    losses = [-shares[n, at, token] for n, row in enumerate(rows) for at, token in enumerate(row[1:])]
    return sum(losses) / len(losses)


def write_lines(path, lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def export(synth, tmp_path):
    def make(run):
        done = synth("export", run, "--to", "onnx", "--out", tmp_path / "onnx")
        assert done.stdout == "" and done.stderr.startswith(f"made {tmp_path / 'onnx'}, ")
        return Exported(tmp_path / "onnx")

    return make


@pytest.fixture(scope="module")
def train_classes(train, translation_recipe, numbers, tmp_path_factory):
    """Trains a classification of texts by their length and returns its folder."""
    texts = (numbers / "train.en").read_text().splitlines()[:300]
    table = tmp_path_factory.mktemp("classes") / "all.tsv"
    write_lines(table, [f"{'abc'[len(text) % 3]}\t{text}" for text in texts])
    own = [
        "task=classification",
        f"data.train={table}",
        f"data.dev={table}",
        "train.learning_rate=2e-2",
        "train.warmup=1",
    ]
    return lambda folder, *settings: train(translation_recipe, folder, *own, *settings)


def check_translation(synth, export, run, folder):
    """The loss of a padded batch, and of one line: that of `synth eval`."""
    sources = ["seven", "two hundred", "o", "six thousand and one"]
    targets = ["sieben", "s", "zweihundert", "sechstausendeins"]
    model = export(run)
    for number in (len(sources), 1):
        fed = [model.row("source", line) for line in sources[:number]]
        said = [model.row("target", line) for line in targets[:number]]
        data = [
            write_lines(folder / f"{side}{number}", lines[:number])
            for side, lines in [("source", sources), ("target", targets)]
        ]
        target, _ = padded([row[:-1] for row in said])
        logits = model.logits(*padded(fed), target)
        done = synth("eval", run, "--data", data[0], "--data", data[1], "--no-text", "--json")
        told = json.loads(done.stdout)
        assert told["tokens"] == sum(len(row) - 1 for row in said)
        assert mean_loss(logits, said) == pytest.approx(told["loss"], abs=1e-5)
    first = model.logits(*padded(fed), target[:1, :1])  # what follows a token does not change its row
    assert numpy.abs(first - logits[:1, :1]).max() < TOLERANCE


def check_classes(synth, export, run):
    """The logits of texts together and one by one: log-probabilities of `synth classify`, but for a sum."""
    model = export(run)
    done = synth("classify", run, "--json", input="".join(line + "\n" for line in LINES))
    told = [json.loads(line)["probabilities"] for line in done.stdout.splitlines()]
    wanted = numpy.log([[shares[label] for label in model.config["labels"]] for shares in told])
    rows = [model.row("tokens", line) for line in LINES]
    tokens, lengths = padded(rows)
    found = log_softmax(model.run("model.onnx", tokens=tokens, lengths=lengths))
    assert numpy.abs(found - wanted).max() < TOLERANCE
    for row, alone in zip(rows, wanted):
        tokens, lengths = padded([row])
        found = log_softmax(model.run("model.onnx", tokens=tokens, lengths=lengths))
        assert numpy.abs(found - alone).max() < TOLERANCE


# Attention


@pytest.mark.parametrize("attention", [*VARIANTS, "R+V", "D+FR+V"])
def test_variants_of_both_sides(synth, train, export, translation_recipe, tmp_path, attention):
    """In the encoder with padding, in the decoder causal."""
    run = train(translation_recipe, tmp_path / "run", f'model.attention=["{attention}"]')
    check_translation(synth, export, run, tmp_path)


ENCODERS = {
    "one variant per layer": ["model.layers=6", f"model.attention={json.dumps(VARIANTS)}"],
    "all in one mixture": ['model.attention="V+D+R+Fix+FR+FD"', 'model.options={weights="learned-per-head"}'],
    "sums": ['model.attention="R+D"', 'model.options={weights="sum", share_heads=true}'],
    "no hidden layer": ["model.layers=2", 'model.attention=["D", "FD"]', "model.options={hidden=0, a=5}"],
    "tiles": ['model.attention="FD"', 'model.options={tiling="tile", a=7}'],
    "baselines": ["model.layers=3", 'model.attention=["light-conv:5", "dynamic-conv", "linformer"]'],
    "other baselines": [
        "model.layers=3",
        'model.attention=["light-conv", "dynamic-conv", "linformer"]',
        "model.options={groups=8, kernel=3, rank=5, share_heads=false, share_kv=true}",
    ],
}  # fmt: skip


@pytest.mark.parametrize("settings", ENCODERS.values(), ids=ENCODERS)
def test_options_of_attention(synth, train_classes, export, tmp_path, settings):
    check_classes(synth, export, train_classes(tmp_path / "run", *settings))


# The rest of a model

MODELS = {
    "T5": ["positions=relative", "norm=rms", "activation=gated-gelu-tanh", "embedding_scale=false"],
    "post-norm": ["norm_place=post", "positions=split-sinusoidal", "activation=swish", "output_bias=true"],
    "own tables": ["shared_embedding=false", "tied=false", "positions=learned", "activation=gelu"],
    "rms after": [
        "norm=rms",
        "norm_place=post",
        "bias=false",
        "activation=gated-relu",
        "embedding_norm=true",
    ],
    "no positions": ["positions=none", "activation=gated-gelu", "norm_epsilon=1e-3"],
    "Universal Transformer": ["recurrent_depth=3", "activation=gelu-tanh"],
    "halting": ["recurrent_depth=4", "halting_threshold=0.9", "positions=learned"],
    "two depths": ["encoder_layers=2", 'decoder_attention=["dynamic-conv:3"]', 'encoder_attention=["R+V"]'],
}


@pytest.mark.parametrize("settings", MODELS.values(), ids=MODELS)
def test_models(synth, train, export, translation_recipe, tmp_path, settings):
    run = train(translation_recipe, tmp_path / "run", *(f"model.{setting}" for setting in settings))
    check_translation(synth, export, run, tmp_path)


@pytest.mark.parametrize("pooling", ["first", "first-tanh"])
def test_pooling(synth, train_classes, export, tmp_path, pooling):
    settings = [f"model.pooling={pooling}", "model.output_bias=true", "model.positions=relative"]
    check_classes(synth, export, train_classes(tmp_path / "run", *settings))


# Tasks


def test_a_language_model(synth, train, export, language_recipe, tmp_path):
    """Lines of all lengths up to max_length, with other tokens behind the shorter ones."""
    settings = [
        "data.sequence=lines",
        "data.too_long=truncate",
        "model.layers=6",
        f"model.attention={json.dumps(VARIANTS)}",
    ]
    run = train(language_recipe, tmp_path / "run", *settings)
    model = export(run)
    lines = ["a", "First Citizen:", "We are resolved"]  # begin and 15 characters: max_length
    rows = [model.row("tokens", line) for line in lines]
    tokens, _ = padded([row[:-1] for row in rows])
    assert tokens.shape[1] == model.config["max_length"] == 16
    done = synth("eval", run, "--data", write_lines(tmp_path / "lines", lines), "--json")
    told = json.loads(done.stdout)
    assert told["tokens"] == sum(len(row) - 1 for row in rows)
    logits = model.run("model.onnx", tokens=tokens)
    assert logits.shape == (*tokens.shape, model.config["texts"]["tokens"]["vocabulary_size"])
    assert mean_loss(logits, rows) == pytest.approx(told["loss"], abs=1e-5)
    first = model.run("model.onnx", tokens=tokens[:1, :1])  # what follows a token does not change its row
    assert numpy.abs(first - logits[:1, :1]).max() < TOLERANCE


@pytest.mark.parametrize("family", ["marian", "marian-separate", "t5-1.0", "t5-1.1", "gpt2", "bert"])
def test_logits_of_other_programs(synth, export, tmp_path, family):
    """Imported, exported, and still the logits that transformers computes for a padded batch: ours are within
    the tolerance of theirs, and those of onnxruntime within that of ours."""
    tolerance = 2 * TOLERANCE
    synth("import", REFERENCES / family, "--run", tmp_path / "run")
    model, told = export(tmp_path / "run"), tensors.read(REFERENCES / family / "expected.safetensors")
    if family == "bert":
        found = model.run("model.onnx", tokens=told["tokens"], lengths=told["lengths"])
        assert numpy.abs(found - told["logits"]).max() < tolerance
        return
    if family == "gpt2":
        found, lengths = model.run("model.onnx", tokens=told["tokens"]), told["lengths"]
    else:
        found = model.logits(told["source"], told["source_lengths"], told["target"])
        lengths = told["target_lengths"]
    for one, other, length in zip(found, told["logits"], lengths):
        assert numpy.abs(one[:length] - other[:length]).max() < tolerance


def test_translating_with_the_folder_alone(synth, export, numbers_run):
    """Greedy search with onnxruntime writes what `synth translate` writes."""
    model, lines = export(numbers_run), ["seventy-one", "two thousand and five", "nine hundred"]
    told = synth("translate", numbers_run, "--beam", "1", input="".join(line + "\n" for line in lines))
    ids = synth("tokenize", numbers_run, "--ids", input="".join(line + "\n" for line in lines)).stdout
    texts = model.config["texts"]
    source, lengths = padded([[*map(int, line.split()), texts["source"]["end"]] for line in ids.splitlines()])
    target = numpy.full((len(lines), 1), texts["target"]["begin"])
    for _ in range(30):
        best = model.logits(source, lengths, target)[:, -1].argmax(-1)
        target = numpy.concatenate([target, best[:, None]], axis=1)
    written = []
    for row in target:
        tokens = row[1 : list(row).index(texts["target"]["end"])]
        written.append("".join(model.pieces["target"][token] for token in tokens).replace("▁", " ").strip())
    assert written == told.stdout.splitlines()


def test_the_folder(synth, export, language_run, tmp_path):
    export(language_run)
    files = contents(tmp_path / "onnx")
    assert sorted(files) == ["config.json", "model.onnx", "tokenizer.model", "vocabulary.json"]
    assert files["tokenizer.model"] == (language_run / "tokenizer.model").read_bytes()
    synth("export", language_run, "--to", "onnx", "--out", tmp_path / "again")
    assert contents(tmp_path / "again") == files


# Mistakes


def test_refusals(synth, mistake, language_run, tmp_path):
    out = tmp_path / "out"
    mistake("export", language_run, "--to", "onnx", words=["--out is missing"])
    mistake("export", tmp_path, "--to", "onnx", "--out", out, words=["is not a run folder"])
    mistake("export", language_run, "--to", "pt2", "--out", out, words=["pt2", "--to onnx"])
    onnx = ["--to", "onnx", "--out", out]
    mistake("export", language_run, *onnx, "--quantize", "int8", words=["--quantize is for runs"])
    synth("export", language_run, "--quantize", "int8", "--run", tmp_path / "int8", "--no-scores")
    mistake("export", tmp_path / "int8", *onnx, words=["is quantized"])
    assert not out.exists()
    synth("export", language_run, *onnx)
    before = contents(out)
    mistake("export", language_run, *onnx, words=["exists already"])
    assert contents(out) == before


def test_what_cannot_be_written_leaves_nothing(synth, language_run, tmp_path):
    """A limit on the size of files, below that of the model."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # the write fails, and the program goes on
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

    done = synth(
        "export", language_run, "--to", "onnx", "--out", tmp_path / "out", ok=False, preexec_fn=limit
    )
    assert done.returncode != 0
    assert not (tmp_path / "out").exists()
