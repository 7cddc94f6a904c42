"""Mistakes in recipes: one line that says what and where, status 2, and nothing is made or changed."""

import pytest
from program import changes


@pytest.fixture
def refused(mistake, tmp_path):
    """A training that has to be refused before anything is made."""

    def run(recipe, *arguments, words):
        mistake("train", recipe, "--run", tmp_path / "run", *arguments, words=words)
        assert not (tmp_path / "run").exists()

    return run


LINES = [
    ("[train]\nstep = 3", [":2", "'train.step'", "did you mean 'train.steps'", "--explain"]),
    ("[modell]\nwidth = 3", [":2", "'modell.width'", "did you mean 'model.width'"]),
    ("[data]\nsteps = 3", [":2", "'data.steps'", "did you mean 'train.steps'"]),
    ("width = 3", [":1", "'width'", "did you mean 'model.width'"]),
    ("sed = 3", [":1", "'sed'", "did you mean 'seed'"]),
    ("\n\n[train]\nsteps = 'many'", [":4", "train.steps", "whole number"]),
    ("[train]\nsteps = 1.5", [":2", "train.steps", "whole number"]),
    ("[train]\nlearning_rate = 'low'", [":2", "train.learning_rate", "number"]),
    ("[model]\ntied = 1", [":2", "model.tied", "true or false"]),
    ("[model]\nnorm = 3", [":2", "model.norm", "text"]),
    ("[model]\nattention = [1, 2]", [":2", "model.attention", "list"]),
    ("[model]\noptions = 'rank'", [":2", "model.options", "table"]),
    ("[model]\noptions = { rank = [1] }", [":2", "model.options"]),
    ("[train\nsteps = 3", [":1"]),
    ("task = ", [":1"]),
    ("[train]\nsteps = 1\nsteps = 2", [":3", "steps"]),
    ("train = 3", ["train"]),
]


@pytest.mark.parametrize("text, words", LINES, ids=[line[0].replace("\n", " ") for line in LINES])
def test_a_line_of_the_recipe(refused, tmp_path, text, words):
    recipe = tmp_path / "mine.toml"
    recipe.write_text(text + "\n")
    where = f"{recipe}{words[0]}" if words[0].startswith(":") else str(recipe)
    refused(recipe, words=[where, *words[1:]])


VALUES = [
    ("task=translatoin", ["translatoin", "did you mean 'translation'"]),
    ("seed=-1", ["seed", "-1"]),
    ("data.format=csv", ["data.format", "csv", "tsv"]),
    ("data.too_long=ignore", ["data.too_long", "ignore", "error", "skip", "truncate"]),
    ("data.sequence=line", ["data.sequence", "did you mean 'lines'"]),
    ("data.vocabulary=-5", ["data.vocabulary", "-5"]),
    ("data.character_coverage=0", ["data.character_coverage", "0"]),
    ("data.character_coverage=1.5", ["data.character_coverage", "1.5"]),
    ("data.max_length=17", ["data.max_length", "17", "model.max_length", "16"]),
    ("data.max_source_length=99", ["data.max_source_length", "99"]),
    ("data.tokenizer=bpee", ["data.tokenizer", "bpee", "did you mean 'bpe'"]),
    ("data.train=[]", ["data.train"]),
    ("model.attention=X", ["model.attention", "'X'", "vanilla"]),
    ("model.attention=R+R", ["model.attention", "twice"]),
    ('model.attention=["R", "V"]', ["model.attention", "2", "1"]),
    ("model.options={ rang = 4 }", ["rang", "did you mean 'rank'"]),
    ("model.width=0", ["model.width", "0"]),
    ("model.width=15", ["model.width", "15", "model.heads", "2"]),
    ("model.heads=0", ["model.heads", "0"]),
    ("model.layers=0", ["model.layers", "0"]),
    ("model.feed_forward=0", ["model.feed_forward"]),
    ("model.max_length=0", ["model.max_length"]),
    ("model.dropout=1", ["model.dropout", "1"]),
    ("model.dropout=-0.1", ["model.dropout", "-0.1"]),
    ("model.attention_dropout=2", ["model.attention_dropout"]),
    ("model.activation_dropout=nan", ["model.activation_dropout"]),
    ("model.norm=batch", ["model.norm", "batch", "layer or rms"]),
    ("model.norm_place=middle", ["model.norm_place", "pre or post"]),
    ("model.positions=relativ", ["model.positions", "did you mean 'relative'"]),
    ("model.activation=gleu", ["model.activation", "did you mean 'gelu'"]),
    ("train.steps=-1", ["train.steps", "-1"]),
    ("train.batch_tokens=0", ["train.batch_tokens"]),
    ("train.accumulate=0", ["train.accumulate"]),
    ("train.optimizer=sgd", ["train.optimizer", "sgd", "adam"]),
    ("train.learning_rate=-1", ["train.learning_rate", "-1"]),
    ("train.learning_rate=nan", ["train.learning_rate"]),
    ("train.learning_rate=inf", ["train.learning_rate", "inf"]),
    ("train.logit_learning_rate=0", ["train.logit_learning_rate is 0", "above 0"]),
    ("train.logit_learning_rate=-1", ["train.logit_learning_rate is -1", "above 0"]),
    ("train.logit_learning_rate=nan", ["train.logit_learning_rate is nan", "above 0"]),
    ("train.logit_learning_rate=inf", ["train.logit_learning_rate is inf", "finite"]),
    ("train.beta2=1", ["train.beta2", "1"]),
    ("train.schedule=cosin", ["train.schedule", "did you mean 'cosine'"]),
    ("train.warmup=-1", ["train.warmup"]),
    ("train.clip=-1", ["train.clip"]),
    ("train.precision=float16", ["train.precision", "float32 or bfloat16"]),
    ("train.label_smoothing=1", ["train.label_smoothing"]),
    ("train.eval_every=0", ["train.eval_every"]),
    ("train.save_every=0", ["train.save_every"]),
    ("train.log_every=0", ["train.log_every"]),
    ("train.keep=-1", ["train.keep"]),
    ("train.patience=-1", ["train.patience"]),
    ("train.threads=-1", ["train.threads"]),
    ("train.watch=bleu", ["train.watch", "bleu", "loss"]),
    ("decode.beam=0", ["decode.beam", "0"]),
    ("decode.length_normalization=gmnt", ["decode.length_normalization", "did you mean 'gnmt'"]),
    ("decode.max_length=-1", ["decode.max_length"]),
    ("train.stepps=3", ["--set", "'train.stepps'", "did you mean 'train.steps'"]),
    ("train.steps=many", ["--set", "train.steps", "whole number"]),
    ("train.steps", ["--set train.steps", "KEY=VALUE"]),
    ("=3", ["KEY=VALUE"]),
]


@pytest.mark.parametrize("change, words", VALUES, ids=[value[0] for value in VALUES])
def test_a_value(refused, language_recipe, change, words):
    refused(language_recipe, *changes([change]), words=words)


def test_a_recipe_that_is_not_there(refused, tmp_path):
    refused(tmp_path / "none.toml", words=[tmp_path / "none.toml", "No such file"])


def test_a_recipe_that_is_a_folder(refused, tmp_path):
    refused(tmp_path, words=[tmp_path, "folder"])


def test_a_recipe_that_is_not_utf8(refused, tmp_path):
    (tmp_path / "bad.toml").write_bytes(b"seed = 1\ntask = 'caf\xe9'\n")
    refused(tmp_path / "bad.toml", words=[f"{tmp_path}/bad.toml:2"])


def test_no_recipe(mistake, tmp_path):
    mistake("train", "--run", tmp_path / "run", words=["needs a recipe"])
    assert not (tmp_path / "run").exists()


def test_no_folder(mistake, language_recipe):
    mistake("train", language_recipe, words=["--run"])


def test_translation_from_one_file(refused, translation_recipe):
    refused(
        translation_recipe, *changes(["data.train=train.en"]), words=["translation", "2 files", "train.en"]
    )


def test_columns_for_one_field_only(refused, translation_recipe, numbers):
    wrong = changes(["data.format=tsv", "data.columns=english", "data.train=train.en"])
    refused(translation_recipe, *wrong, words=["data.columns", "2"])


OPTIONS = [
    (["--rum", "x"], ["'--rum'", "did you mean '--run'"]),
    (["--resum"], ["'--resum'", "did you mean '--resume'"]),
    (["extra"], ["'extra'"]),
]


@pytest.mark.parametrize("options, words", OPTIONS, ids=[option[0][0] for option in OPTIONS])
def test_options_of_train(refused, language_recipe, options, words):
    refused(language_recipe, *options, words=words)


@pytest.mark.parametrize("command", ["train", "eval", "translate", "generate", "average", "score"])
def test_help(synth, command):
    done = synth(command, "--help")
    assert done.stderr == "" and "--help" in done.stdout


@pytest.mark.parametrize("command", ["eval", "translate", "generate", "average"])
def test_no_run(mistake, tmp_path, command):
    mistake(command, words=["RUN"])
    mistake(command, tmp_path / "none", words=[tmp_path / "none"])
    mistake(command, tmp_path, words=[tmp_path])


DECODING = [
    (["--beam", "0"], ["beam", "0"]),
    (["--beam", "wide"], ["--beam", "wide"]),
    (["--min-length", "9", "--max-length", "5"], ["max_length", "5", "min_length", "9"]),
    (["--length-penalty", "nan"], ["length_penalty"]),
    (["--length-normalization", "powr"], ["length_normalization", "did you mean 'power'"]),
    (["--batch-tokens", "0"], ["--batch-tokens"]),
    (["--too-long", "skip"], ["--too-long", "skip"]),
    (["--nbest", "0"], ["--nbest"]),
    (["--bean", "4"], ["'--bean'", "did you mean '--beam'"]),
]


@pytest.mark.parametrize("options, words", DECODING, ids=[" ".join(option[0]) for option in DECODING])
def test_options_of_translate(mistake, numbers_run, options, words):
    mistake("translate", numbers_run, *options, input="one\n", words=words)
