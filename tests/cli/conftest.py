"""What the tests of the command line share: the program, small texts, small recipes, one trained run.

HOME and the cache are folders of the tests' own, so that nothing of the user's is read or written."""

import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest
from import_fixtures import imported, model_folder  # noqa: F401
from program import changes
from serve_fixtures import class_run, int8_run, serve, shared_server, small_run  # noqa: F401
from together import labelled, train_together  # noqa: F401
from warm_start import WarmStart

ROOT = pathlib.Path(__file__).resolve().parents[2]

LANGUAGE_MODEL = """
task = "language-model"

[data]
root = "{root}"
train = "train.txt"
dev = "dev.txt"
tokenizer = "characters"
vocabulary = 0

[model]
width = 16
heads = 2
layers = 1
feed_forward = 32
max_length = 16
dropout = 0.1

[train]
steps = 4
batch_tokens = 256
learning_rate = 1e-2
warmup = 2
schedule = "constant"
eval_every = 2
save_every = 2
log_every = 1
keep = 3
"""

TRANSLATION = """
task = "translation"

[data]
root = "{root}"
train = ["train.en", "train.de"]
dev = ["dev.en", "dev.de"]
tokenizer = "characters"
vocabulary = 0

[model]
width = 16
heads = 2
layers = 1
feed_forward = 32
max_length = 48
dropout = 0.1

[train]
steps = 3
batch_tokens = 512
learning_rate = 1e-2
warmup = 2
schedule = "constant"
eval_every = 100
save_every = 100
log_every = 1
"""

# Enough to learn numbers below 10,000 by rule, in a few seconds.
NUMBERS = [
    "data.tokenizer=bpe",
    "data.vocabulary=100",
    "model.width=64",
    "model.heads=4",
    "model.layers=2",
    "model.feed_forward=128",
    "model.dropout=0.0",
    "train.steps=300",
    "train.batch_tokens=1024",
    "train.learning_rate=4e-3",
    "train.warmup=50",
    "train.schedule=cosine",
    "train.label_smoothing=0.0",
    "train.eval_every=100",
    "train.save_every=100",
    "train.log_every=50",
    "train.keep=3",
    "decode.beam=1",
]


@pytest.fixture(scope="session")
def environment(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    # Threads that spin while they wait take the time of whatever else runs.
    own = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "OMP_WAIT_POLICY": "PASSIVE"}
    return {**os.environ, **own}


@pytest.fixture(scope="session")
def synth(environment):
    """Runs the program to its end; where ok, it must have done what it was asked.

    What is run is a copy of a started program (warm_start.py); with options of subprocess.run it is started
    anew."""
    program = os.environ["SYNTH"]
    started = WarmStart(program, os.environ["WARM_START"], environment)

    def run(*arguments, input="", ok=True, timeout=180, cwd=None, **options):
        words = [program, *map(str, arguments)]
        given = input.encode() if isinstance(input, str) else input
        if options:
            done = subprocess.run(words, input=given, capture_output=True, timeout=timeout, env=environment,
                                  cwd=cwd, **options)  # fmt: skip
        else:
            done = started.run(words, given, timeout, environment, cwd)
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
        assert not ok or done.returncode == 0, done.stderr
        return done

    yield run
    started.close()


@pytest.fixture(scope="session")
def mistake(synth):
    """Runs the program on a mistake of the user: status 2, nothing printed, one line that has these words."""

    def run(*arguments, words, input=""):
        done = synth(*arguments, input=input, ok=False)
        assert done.returncode == 2, (done.returncode, done.stderr)
        assert done.stdout == ""
        assert done.stderr.startswith("synth: error: ") and done.stderr.endswith("\n"), done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
        for word in words:
            assert str(word) in done.stderr
        return done.stderr

    return run


@pytest.fixture(scope="session")
def train(synth):
    """Trains a run and returns its folder."""

    def run(recipe, folder, *settings, **options):
        done = synth("train", recipe, "--run", folder, *changes(settings), **options)
        assert done.stdout == f"{folder}\n"
        return folder

    return run


@pytest.fixture
def started(environment):
    """Starts the program and lets it run; whatever is left of it ends with the test."""
    running = []

    def start(*arguments):
        running.append(subprocess.Popen([os.environ["SYNTH"], *map(str, arguments)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=environment))  # fmt: skip
        return running[-1]

    yield start
    for process in running:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()


@pytest.fixture(scope="session")
def text(tmp_path_factory):
    """A folder with train.txt and dev.txt: a little of Shakespeare."""
    folder = tmp_path_factory.mktemp("text")
    source = ROOT / "data" / "tiny-shakespeare"
    for split, lines in [("train", 600), ("dev", 60)]:
        whole = (source / f"{split}.txt").read_text(encoding="utf-8").splitlines()
        (folder / f"{split}.txt").write_text("".join(line + "\n" for line in whole[:lines]), encoding="utf-8")
    return folder


def make_numbers(folder):
    """{train,dev,test}.{en,de}: numbers below 10,000 in words."""
    subprocess.run([sys.executable, ROOT / "tools" / "make_numbers.py", folder, "--below", "10000", "--train",
                    "4000", "--dev", "100", "--test", "100"], check=True)  # fmt: skip
    return folder


@pytest.fixture(scope="session")
def numbers(tmp_path_factory):
    return make_numbers(tmp_path_factory.mktemp("numbers"))


@pytest.fixture(scope="session")
def made_once(tmp_path_factory):
    """A folder that is filled by whichever group of tests needs it first; the others wait and use it too."""

    def folder(name, fill):
        results = os.environ.get("RESULTS")
        place = pathlib.Path(results) / "shared" if results else tmp_path_factory.mktemp("shared")
        place.mkdir(exist_ok=True)
        with open(place / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (place / name / "filled").exists():
                shutil.rmtree(place / name, ignore_errors=True)
                (place / name).mkdir()
                fill(place / name)
                (place / name / "filled").touch()
        return place / name

    return folder


@pytest.fixture(scope="session")
def language_recipe(text, tmp_path_factory):
    path = tmp_path_factory.mktemp("recipe") / "language.toml"
    path.write_text(LANGUAGE_MODEL.format(root=text))
    return path


@pytest.fixture(scope="session")
def translation_recipe(numbers, tmp_path_factory):
    path = tmp_path_factory.mktemp("recipe") / "translation.toml"
    path.write_text(TRANSLATION.format(root=numbers))
    return path


@pytest.fixture(scope="session")
def language_run(train, language_recipe, tmp_path_factory):
    """A language model of four steps. Nobody changes it; who wants to, copies it."""
    return train(language_recipe, tmp_path_factory.mktemp("runs") / "language")


@pytest.fixture(scope="session")
def numbers_run(made_once, train, synth, tmp_path_factory):
    """A translation model that has learnt its task, its checkpoints averaged. Nobody changes it."""

    def fill(folder):
        recipe = folder / "translation.toml"
        recipe.write_text(TRANSLATION.format(root=make_numbers(folder / "data")))
        run = train(recipe, folder / "run", 'data.test=["test.en", "test.de"]', *NUMBERS, timeout=600)
        synth("average", run, "--last", "2")

    learnt = made_once("numbers", fill) / "run"
    return shutil.copytree(learnt, tmp_path_factory.mktemp("runs") / "numbers")


@pytest.fixture
def copy(language_run, tmp_path):
    """A trained run to do harm to."""
    return shutil.copytree(language_run, tmp_path / "copy")
