"""synth export --to huggingface, the way back of synth import: on the tiny models of tests/interop, and on
runs trained here."""

import json

import numpy
import pytest
import tensors
from import_fixtures import REFERENCES, expected, lines

TRANSLATORS = ["marian", "marian-separate", "marian-npz", "t5-1.0", "t5-1.1"]
FAMILIES = [*TRANSLATORS, "gpt2", "bert", "bert-cased"]

# A recipe of the layout of MarianMT, as far as it is none of the defaults.
MARIAN = [
    "data.tokenizer=bpe",
    "data.vocabulary=100",
    "model.positions=split-sinusoidal",
    "model.norm_place=post",
    "train.steps=60",
    "decode.beam=1",
    "decode.max_length=30",
]
# And of the layout of T5.
T5 = ["model.positions=relative", "model.norm=rms", "model.bias=false"]


@pytest.fixture(scope="module")
def exported(synth, tmp_path_factory):
    """A family's run, what was exported of it, and the run that this was imported as; each made once."""
    made = {}

    def get(family):
        if family not in made:
            place = tmp_path_factory.mktemp("exported")
            run, model, again = place / "run", place / "model", place / "again"
            synth("import", REFERENCES / family, "--run", run)
            done = synth("export", run, "--to", "huggingface", "--out", model)
            assert done.stdout == "" and done.stderr.startswith(f"made {model}, a ")
            synth("import", model, "--run", again)
            made[family] = (run, model, again)
        return made[family]

    return get


@pytest.fixture(scope="module")
def marian_like(train, translation_recipe, tmp_path_factory):
    """A run trained here in the layout of MarianMT, with these settings beside."""

    def get(*settings):
        return train(translation_recipe, tmp_path_factory.mktemp("trained") / "run", *MARIAN, *settings)

    return get


def settings_of(model, file="config.json"):
    return json.loads((model / file).read_text(encoding="utf-8"))


def assert_same_weights(run, other):
    one, two = (tensors.read(each / "model.safetensors") for each in (run, other))
    assert set(one) == set(two)
    for name in one:
        assert numpy.allclose(one[name], two[name], rtol=0, atol=1e-6), name


# There and back


@pytest.mark.parametrize("family", FAMILIES)
def test_a_run_imported_again_has_the_same_weights(exported, family):
    run, _, again = exported(family)
    assert_same_weights(run, again)


@pytest.mark.parametrize("family", TRANSLATORS)
def test_and_translates_the_same(synth, exported, family):
    run, _, again = exported(family)
    told = expected(family)
    options = ["--beam", "1", "--max-length", "22"]
    written = synth("translate", again, *options, input=lines(told["lines"])).stdout
    assert written.splitlines() == told["written"]["greedy"]
    if family == "marian":  # with the settings of the run: beam search
        text = lines(told["lines"])
        assert synth("translate", run, input=text).stdout == synth("translate", again, input=text).stdout


def test_and_generates_and_classifies_the_same(synth, exported):
    run, _, again = exported("gpt2")
    for prompt in expected("gpt2")["lines"][:3]:
        asked = ["--prompt", prompt, "--tokens", "16", "--temperature", "0"]
        assert synth("generate", run, *asked).stdout == synth("generate", again, *asked).stdout
    for family in ("bert", "bert-cased"):
        told = expected(family)
        _, _, again = exported(family)
        done = synth("classify", again, input=lines(told["lines"]))
        assert done.stdout.splitlines() == told["labels"]


@pytest.mark.parametrize("family", FAMILIES)
def test_and_has_the_same_tokens(synth, exported, family):
    run, _, again = exported(family)
    text = lines(line for line in expected(family)["lines"] if "\n" not in line)
    assert (
        synth("tokenize", run, "--ids", input=text).stdout
        == synth("tokenize", again, "--ids", input=text).stdout
    )


# The tensors of model.safetensors


@pytest.mark.parametrize("family", ["marian", "t5-1.0", "gpt2", "bert", "bert-cased"])
def test_tensors_are_those_of_the_reference(exported, family):
    theirs = tensors.read(REFERENCES / family / "model.safetensors")
    ours = tensors.read(exported(family)[1] / "model.safetensors")
    assert {name: array.shape for name, array in theirs.items()} == {
        name: array.shape for name, array in ours.items()
    }
    for name, array in ours.items():
        if name.endswith(("self_attn.k_proj.bias", "self.key.bias")):  # without effect
            assert not array.any()
        elif name.endswith("c_attn.bias"):
            width = array.size // 3
            assert not array[width : 2 * width].any()
            assert numpy.array_equal(array[2 * width :], theirs[name][2 * width :])
        elif name.endswith("token_type_embeddings.weight"):  # the first is in the positions
            assert not array.any()
        elif name.endswith("position_embeddings.weight"):
            types = theirs["bert.embeddings.token_type_embeddings.weight"]
            assert numpy.allclose(array, theirs[name] + types[0], rtol=0, atol=1e-6)
        else:
            assert numpy.allclose(array, theirs[name], rtol=0, atol=1e-6), name


def test_heads_of_zeros_are_ordinary_heads(exported):
    """T5 1.1 has fewer heads than fit its width; ours has them all, and so has what is exported."""
    assert settings_of(REFERENCES / "t5-1.1")["num_heads"] == 3
    model = exported("t5-1.1")[1]
    assert settings_of(model)["num_heads"] == 4
    query = tensors.read(model / "model.safetensors")["encoder.block.0.layer.0.SelfAttention.q.weight"]
    assert query.shape == (16, 16) and query[:12].any() and not query[12:].any()


def test_the_file_says_that_it_is_of_pytorch(exported):
    """Without it, older versions of transformers do not load a file."""
    assert tensors.metadata(exported("marian")[1] / "model.safetensors")["format"] == "pt"


# Settings


@pytest.mark.parametrize("family", ["marian", "marian-separate", "t5-1.0", "gpt2", "bert"])
def test_settings_are_those_of_the_reference(exported, family):
    """All that the reference says, but for what says nothing of the model, and what has two names."""
    theirs, ours = settings_of(REFERENCES / family), settings_of(exported(family)[1])
    for key in ours.keys() & theirs.keys() - {"n_inner", "dense_act_fn", "dtype"}:
        assert ours[key] == theirs[key], key


def test_how_texts_are_made(exported, synth, marian_like, tmp_path):
    ours = settings_of(exported("marian")[1], "generation_config.json")
    theirs = settings_of(REFERENCES / "marian", "generation_config.json")
    for key in ["bad_words_ids", "num_beams", "max_length", "decoder_start_token_id", "eos_token_id"]:
        assert ours[key] == theirs[key]
    assert ours["early_stopping"] is False  # their default, by decode.transformers_rules
    run = marian_like("decode.beam=5", "decode.length_penalty=0.8", "decode.no_repeat_ngram=3",
                      "decode.min_length=2", "train.steps=1")  # fmt: skip
    synth("export", run, "--to", "huggingface", "--out", tmp_path / "model")
    wanted = {"num_beams": 5, "length_penalty": 0.8, "early_stopping": True, "no_repeat_ngram_size": 3,
              "min_length": 3, "max_length": 32, "bad_words_ids": [[0]]}  # fmt: skip
    ours = settings_of(tmp_path / "model", "generation_config.json")
    assert {key: ours[key] for key in wanted} == wanted
    synth("import", tmp_path / "model", "--run", tmp_path / "again")
    recipe = (tmp_path / "again" / "config.toml").read_text()
    for line in ["beam = 5", "length_penalty = 0.8", "early_stopping = true", "no_repeat_ngram = 3",
                 "min_length = 2", "max_length = 30"]:  # fmt: skip
        assert f"\n{line}\n" in recipe


# Runs trained here


@pytest.mark.parametrize(
    "settings",
    [
        [],
        ["model.bias=false", "model.embedding_scale=false", "model.activation=gelu-tanh"],
        ["model.options.query_bias=true", "model.output_bias=true", "model.tied=false"],
        ["data.joint=false", "model.encoder_layers=2", "model.activation=swish"],
        ["model.shared_embedding=false", "data.tokenizer=unigram", "data.vocabulary=80"],
    ],
    ids=["plain", "without biases", "with biases", "two tokenizers", "two tables"],
)
def test_a_run_trained_here(synth, marian_like, numbers, tmp_path, settings):
    run, model, again = marian_like(*settings), tmp_path / "model", tmp_path / "again"
    synth("export", run, "--to", "huggingface", "--out", model)
    synth("import", model, "--run", again)
    text = lines((numbers / "dev.en").read_text().splitlines()[:20])
    assert synth("translate", run, input=text).stdout == synth("translate", again, input=text).stdout
    for name, array in tensors.read(run / "model.safetensors").items():
        assert numpy.array_equal(array, tensors.read(again / "model.safetensors")[name]), name
    # What the run has no biases for are zeros.
    theirs = tensors.read(model / "model.safetensors")
    for name in ["model.encoder.layers.0.self_attn.q_proj.bias", "final_logits_bias"]:
        assert theirs[name].any() == ("model.output_bias=true" in settings)
    assert theirs["final_logits_bias"].ndim == 2


@pytest.mark.parametrize(
    "settings",
    [[], ["model.tied=false", "model.activation=gated-gelu-tanh"], ["model.embedding_scale=false"]],
    ids=["tied", "untied", "embeddings without a factor"],
)
def test_a_run_trained_here_in_the_layout_of_t5(
    synth, train, translation_recipe, numbers, tmp_path, settings
):
    """With a tokenizer of ours, whose unknown token has another number than T5's."""
    run, model, again = tmp_path / "run", tmp_path / "model", tmp_path / "again"
    tokenizer = ["data.tokenizer=unigram", "data.vocabulary=80"]
    train(translation_recipe, run, *MARIAN, *tokenizer, "model.norm_place=pre", *T5, *settings)
    synth("export", run, "--to", "huggingface", "--out", model)
    synth("import", model, "--run", again)
    assert settings_of(model)["tie_word_embeddings"] == (not settings)
    text = lines((numbers / "dev.en").read_text().splitlines()[:20])
    written = synth("translate", run, input=text).stdout
    assert written == synth("translate", again, input=text).stdout
    parts = settings_of(model, "tokenizer.json")
    assert parts["model"]["type"] == "Unigram" and parts["model"]["unk_id"] == 0
    assert [piece for piece, _ in parts["model"]["vocab"]][:3] == ["<unk>", "<s>", "</s>"]
    assert settings_of(model, "tokenizer_config.json")["tokenizer_class"] == "PreTrainedTokenizerFast"
    (model / "spiece.model").unlink()  # tokenizer.json has all of it
    synth("import", model, "--run", tmp_path / "without")
    assert synth("translate", tmp_path / "without", input=text).stdout == written
    (model / "tokenizer.json").write_text("{")
    done = synth("import", model, "--run", tmp_path / "damaged", ok=False)
    assert done.returncode == 2 and "tokenizer.json is damaged" in done.stderr


@pytest.mark.parametrize(
    "settings",
    [
        [],
        ["model.embedding_scale=false", "model.tied=false", "model.positions=learned"],
        ["model.positions=none", "model.bias=false"],
    ],
    ids=["sinusoids as a table", "learned", "no positions"],
)
def test_a_language_model_with_the_tokenizer_of_gpt2(
    synth, train, language_recipe, exported, text, tmp_path, settings
):
    tokenizer = exported("gpt2")[0] / "tokenizer.model"
    run = train(language_recipe, tmp_path / "run", f"data.tokenizer={tokenizer}", *settings)
    synth("export", run, "--to", "huggingface", "--out", tmp_path / "model")
    synth("import", tmp_path / "model", "--run", tmp_path / "again")
    data = ["--data", text / "dev.txt", "--json"]
    ours, again = (json.loads(synth("eval", tmp_path / each, *data).stdout) for each in ("run", "again"))
    assert abs(ours["loss"] - again["loss"]) < 1e-5


# What Hugging Face does not have


def refused(mistake, run, tmp_path, *words):
    mistake("export", run, "--to", "huggingface", "--out", tmp_path / "out", words=words)
    assert not (tmp_path / "out").exists()


def test_attention_that_hugging_face_does_not_have(mistake, synth, exported, tmp_path):
    synth("convert", exported("marian")[0], "--attention", "R+V", "--run", tmp_path / "mixed")
    refused(
        mistake, tmp_path / "mixed", tmp_path, "this run has layers with R+V, and Hugging Face has V alone"
    )


@pytest.mark.parametrize(
    "setting, words",
    [
        (
            "model.positions=sinusoidal",
            ['model.positions = "split-sinusoidal" (here "sinusoidal")', "MarianMT"],
        ),
        ("model.norm_place=pre", ['model.norm_place = "post" (here "pre")', "MarianMT"]),
        ("model.norm_epsilon=1e-6", ["model.norm_epsilon = 1e-05 (here 1e-06)"]),
        ("model.embedding_norm=true", ["model.embedding_norm = false (here true)"]),
        ("model.activation=gated-relu", ["without a gate", '"gated-relu"']),
        ("model.recurrent_depth=2", ["model.recurrent_depth"]),
        ("model.attention=D", ["layers with D, and Hugging Face has V alone"]),
        ("data.tokenizer=characters", ["'characters'", "MarianMT has SentencePiece alone"]),
    ],
)
def test_settings_that_no_layout_has(mistake, marian_like, tmp_path, setting, words):
    vocabulary = ["data.vocabulary=0"] if "characters" in setting else []
    refused(mistake, marian_like("train.steps=1", *vocabulary, setting), tmp_path, *words)


def test_the_nearest_layout_is_named(mistake, train, translation_recipe, tmp_path):
    """Of T5 the output bias alone differs, of MarianMT nearly all."""
    t5 = [*T5, "train.steps=1"]
    run = train(translation_recipe, tmp_path / "biased", *t5, "model.output_bias=true")
    refused(mistake, run, tmp_path, "nearest is T5", "model.output_bias = false (here true)")
    run = train(translation_recipe, tmp_path / "bpe", *t5, "data.tokenizer=bpe", "data.vocabulary=100")
    refused(mistake, run, tmp_path, "T5 has SentencePiece's unigram alone")


def test_other_tasks(mistake, language_run, class_run, tmp_path):
    refused(mistake, language_run, tmp_path, "'characters'", "GPT-2 has byte pairs alone")
    refused(mistake, class_run, tmp_path, "nearest is BERT", "model.pooling", "model.embedding_norm = true")


def test_the_folder_must_be_new(mistake, exported):
    run, model, _ = exported("marian")
    before = tensors.contents(model)
    mistake("export", run, "--to", "huggingface", "--out", model, words=["exists already"])
    assert tensors.contents(model) == before
    mistake("export", run, "--to", "huggingface", words=["--out is missing"])
    mistake("export", run, "--to", "huggingface", "--out", model, "--quantize", "int8", words=["--quantize"])


# Transformers itself, where it is installed


def mask_of(ids, lengths):
    import torch

    return (torch.arange(ids.size(1)) < lengths.unsqueeze(1)).long()


@pytest.mark.parametrize("family", FAMILIES)
def test_transformers_computes_the_same(exported, family):
    import torch
    import transformers
    from safetensors.torch import load_file

    told, values = expected(family), load_file(REFERENCES / family / "expected.safetensors")
    folder = exported(family)[1]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    rows = [tokenizer(line)["input_ids"] for line in told["lines"]]
    if family in TRANSLATORS:
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
        logits = model(
            input_ids=values["source"],
            attention_mask=mask_of(values["source"], values["source_lengths"]),
            decoder_input_ids=values["target"],
        ).logits
        real = mask_of(values["target"], values["target_lengths"])
        limit = 24 if "marian" in family else 23  # T5 writes no end there
        for row, text in zip(rows, told["written"]["greedy"]):
            written = model.generate(torch.tensor([row]), num_beams=1, do_sample=False, max_length=limit)
            assert tokenizer.decode(written[0][1:], skip_special_tokens=True) == text
    else:
        kind = "CausalLM" if family == "gpt2" else "SequenceClassification"
        model = getattr(transformers, f"AutoModelFor{kind}").from_pretrained(folder).eval()
        real = mask_of(values["tokens"], values["lengths"])
        logits = model(input_ids=values["tokens"], attention_mask=real).logits
        rows = rows if family == "gpt2" else [row[:60] for row in rows]
    assert rows == told["tokens"]
    difference = (logits - values["logits"]).detach().abs()
    assert difference[real.bool() if difference.dim() == 3 else ...].max() < 1e-4
