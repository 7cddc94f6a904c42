"""Fixtures of the tests of `synth serve`: small runs of every kind, trained once, and servers of them."""

import random

import pytest
from server import Server

WORDS = "red blue green tree house bird stone cloud runs walks".split()
CLASSES = {"red": "warm", "blue": "cold", "green": "fresh"}


def recipe_of_tables(folder, task, *data):
    """Of a small model of words, for train.tsv and dev.tsv in the folder; `data`: further lines of [data]."""
    recipe = folder / "recipe.toml"
    recipe.write_text(f"""task = "{task}"
[data]
root = "{folder}"
train = "train.tsv"
dev = "dev.tsv"
tokenizer = "words"
vocabulary = 0
{"".join(line + chr(10) for line in data)}[model]
width = 16
heads = 2
layers = 1
feed_forward = 32
max_length = 32
[train]
steps = 20
batch_tokens = 256
""")
    return recipe


@pytest.fixture(scope="session")
def class_run(train, tmp_path_factory):
    """A classifier of short texts by the first colour in them; hardly trained."""
    rng, folder = random.Random(1), tmp_path_factory.mktemp("classes")
    for split, count in [("train", 200), ("dev", 40)]:
        lines = []
        for _ in range(count):
            words = rng.choices(WORDS, k=rng.randint(2, 12))
            colour = rng.choice(list(CLASSES))
            lines.append(f"{CLASSES[colour]}\t{' '.join([colour, *words])}\n")
        (folder / f"{split}.tsv").write_text("".join(lines))
    return train(recipe_of_tables(folder, "classification"), tmp_path_factory.mktemp("runs") / "colours")


@pytest.fixture(scope="session")
def small_run(train, translation_recipe, tmp_path_factory):
    """A translation run that has learnt next to nothing, and is quick."""
    return train(translation_recipe, tmp_path_factory.mktemp("runs") / "small", "decode.beam=1")


@pytest.fixture(scope="session")
def int8_run(synth, numbers_run, tmp_path_factory):
    run = tmp_path_factory.mktemp("runs") / "numbers-int8"
    synth("export", numbers_run, "--quantize", "int8", "--run", run)
    return run


@pytest.fixture
def serve(environment):
    """Starts servers; whatever is left of them ends with the test."""
    started = []

    def start(*arguments, **options):
        started.append(Server(environment, *arguments, **options))
        return started[-1]

    yield start
    for server in started:
        server.close()


@pytest.fixture(scope="session")
def shared_server(environment, numbers_run, int8_run, language_run, class_run):
    """One server of four runs, for tests that leave it as it is."""
    server = Server(environment, numbers_run, int8_run, language_run, class_run)
    yield server
    server.close()
