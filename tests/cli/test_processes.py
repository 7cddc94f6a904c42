"""Several processes train and evaluate together: the weights and scores of one."""

import json
import os
import shutil

import pytest
import samples
import tensors
from program import changes, metrics
from together import SMALL, TIMEOUT, close, ends, last_line, together

# Everything that might divide its work or its parameters in another way. A causal table's first row has one
# column, so its gradient is nothing but rounding, which Adam with a small epsilon makes a whole step of. FD
# has no hidden layer here: its ReLU has a kink, and one token on the other side of it changes a gradient.
KINDS = {
    "mixture": ["model.attention=R+V", "model.layers=2", "model.attention_dropout=0.1", "train.epsilon=1e-6"],
    "baseline, adafactor": ["model.attention=dynamic-conv", "train.optimizer=adafactor"],
    "light-conv": ["model.attention=light-conv"],
    "universal": [
        "model.attention=FD",
        "model.options.hidden=0",
        "model.recurrent_depth=2",
        "train.optimizer=adamw",
    ],
}

# Where a rounded number may fall on another side of a threshold, two processes are compared: a sum of two is
# the same bits in any order.
KINDS_OF_TWO = {
    "halting": ["model.recurrent_depth=3", "model.halting_threshold=0.9"],
    "bfloat16": ["train.precision=bfloat16"],
}

MIXTURE = """
task = "text-to-text"
[data]
root = "{root}"
tasks = ["span-corruption", "squad"]
train = ["c4/train.txt.gz", "squad/train-v1.1.json"]
dev = ["c4/dev.txt.gz", "squad/dev-v1.1.json"]
tokenizer = "words"
vocabulary = 0
too_long = "truncate"
[model]
width = 16
heads = 2
layers = 1
feed_forward = 32
max_length = 48
[decode]
beam = 1
max_length = 4
"""


@pytest.fixture(scope="module")
def two(train_together, language_recipe, tmp_path_factory):
    """Fifty steps of two processes."""
    return train_together(
        language_recipe, tmp_path_factory.mktemp("two") / "run", 2, "train.steps=50", *SMALL
    )


def test_two_are_one_with_twice_the_batches(train, language_recipe, two, tmp_path):
    one = train(language_recipe, tmp_path / "one", "train.steps=50", *SMALL, "train.accumulate=2")
    close(two, one)
    # The log has the sums over both.
    for ours, theirs in zip(metrics(two, "train"), metrics(one, "train"), strict=True):
        assert ours["loss"] == pytest.approx(theirs["loss"], rel=1e-5)
    for ours, theirs in zip(metrics(two, "dev"), metrics(one, "dev"), strict=True):
        assert ours["tokens"] == theirs["tokens"]
        assert ours["loss"] == pytest.approx(theirs["loss"], rel=1e-5)
    assert [line["step"] for line in metrics(two, "dev")] == [25, 50]
    # So has the state: tokens of all processes.
    ours, theirs = (tensors.metadata(run / "train_state.safetensors") for run in (two, one))
    assert ours["tokens"] == theirs["tokens"] and int(ours["tokens"]) > 50 * 128


def test_the_last_validation_is_that_of_eval(synth, two):
    logged = metrics(two, "dev")[-1]
    command = ["eval", two, "--data", "dev", "--weights", "last", "--json", "--threads", "1"]
    found = json.loads(synth(*command).stdout)
    assert found["tokens"] > 0
    for key in ["loss", "perplexity", "accuracy", "tokens"]:
        assert found[key] == logged[key], key


def test_five_variables_are_enough(environment, language_recipe, two, tmp_path):
    """By hand, each process in a folder of its own: rank 1 prints nothing and makes nothing."""
    folders = {rank: tmp_path / str(rank) for rank in (0, 1)}
    for folder in folders.values():
        folder.mkdir()
    unset = {"LOCAL_WORLD_SIZE": None, "OMP_NUM_THREADS": None}
    command = ["train", language_recipe, "--run", "run", *changes([*SMALL, "train.steps=50"])]
    processes = together(environment, 2, *command, variables={0: unset, 1: unset}, folders=folders)
    outputs = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert outputs[0][0] == "run\n" and outputs[1] == ("", "")
    assert list(folders[1].iterdir()) == []
    tensors.same(folders[0] / "run" / "train_state.safetensors", two / "train_state.safetensors")


def test_processes_of_a_machine_divide_its_cores(environment, train, language_recipe, tmp_path):
    """Also where nothing says how many of them are on it."""
    unset = {"LOCAL_WORLD_SIZE": None, "OMP_NUM_THREADS": None}
    short = ["train.steps=1", "train.eval_every=10", "train.batch_tokens=128"]
    command = ["train", language_recipe, "--run", tmp_path / "two", *changes(short)]
    statuses = [
        status for status, _ in ends(together(environment, 2, *command, variables={0: unset, 1: unset}))
    ]
    assert statuses == [0, 0]
    train(language_recipe, tmp_path / "one", *short)
    threads = {
        name: json.loads((tmp_path / name / "run.json").read_text())["threads"] for name in ("one", "two")
    }
    if "OMP_NUM_THREADS" not in os.environ:
        assert threads["two"] == max(1, threads["one"] // 2)


def test_the_same_command_gives_the_same_bits(language_recipe, two, tmp_path, train_together):
    again = train_together(language_recipe, tmp_path / "again", 2, "train.steps=50", *SMALL)
    tensors.same(again / "train_state.safetensors", two / "train_state.safetensors")
    assert metrics(again, "dev") == metrics(two, "dev")


@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_of_models(train, language_recipe, tmp_path, kind, train_together):
    settings = [*SMALL, "train.steps=50", *KINDS[kind]]
    one = train(language_recipe, tmp_path / "one", *settings, "train.accumulate=6")
    three = train_together(language_recipe, tmp_path / "three", 3, *settings, "train.accumulate=2")
    close(three, one)


@pytest.mark.parametrize("kind", KINDS_OF_TWO)
def test_kinds_with_thresholds(train, language_recipe, tmp_path, kind, train_together):
    settings = [*SMALL, "train.steps=50", *KINDS_OF_TWO[kind]]
    one = train(language_recipe, tmp_path / "one", *settings, "train.accumulate=2")
    close(train_together(language_recipe, tmp_path / "two", 2, *settings), one)


def test_a_mixture_of_tasks(train, tmp_path, train_together):
    samples.plain(tmp_path / "c4", 100, 10)
    samples.squad(tmp_path / "squad", train=40, dev=6)
    recipe = tmp_path / "mixture.toml"
    recipe.write_text(MIXTURE.format(root=tmp_path))
    settings = [*SMALL, "train.steps=10", "train.eval_every=10"]
    one = train(recipe, tmp_path / "one", *settings, "train.accumulate=2")
    both = train_together(recipe, tmp_path / "two", 2, *settings)
    close(both, one)
    (ours,), (theirs,) = metrics(both, "dev"), metrics(one, "dev")
    assert list(ours) == list(theirs)


def test_classification_and_span_corruption(train, language_recipe, labelled, tmp_path, train_together):
    for name, recipe, settings in [
        ("labels", labelled, ["train.steps=20"]),
        ("spans", language_recipe, ["task=span-corruption", "train.steps=10", "model.max_length=64"]),
    ]:
        one = train(recipe, tmp_path / f"{name}-one", *SMALL, *settings, "train.accumulate=2")
        both = train_together(recipe, tmp_path / f"{name}-two", 2, *SMALL, *settings)
        close(both, one)


def test_translation_validates_by_texts(train, translation_recipe, tmp_path, train_together):
    settings = [*SMALL, "train.steps=4", "train.eval_every=2", "train.watch=bleu"]
    one = train(translation_recipe, tmp_path / "one", *settings, "train.accumulate=2")
    both = train_together(translation_recipe, tmp_path / "two", 2, *settings)
    close(both, one)
    assert [line["chrf"] for line in metrics(both, "dev")] == [line["chrf"] for line in metrics(one, "dev")]


@pytest.fixture(scope="module")
def translating(train, translation_recipe, tmp_path_factory):
    """A translation model of three steps: it writes much, and none of it is right."""
    return train(translation_recipe, tmp_path_factory.mktemp("runs") / "translating")


def test_evaluation_gives_exactly_the_same_scores(synth, environment, translating):
    command = ["eval", translating, "--json", "--threads", "1", "--beam", "2"]
    alone = synth(*command).stdout
    assert json.loads(alone)["chrf"] > 0
    assert synth(*command, "--workers", "3").stdout == alone
    processes = together(environment, 3, *command)
    outputs = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert outputs == [alone, "", ""]


def test_evaluation_of_a_classification_by_three(train, synth, environment, labelled, tmp_path):
    run = train(labelled, tmp_path / "run", *SMALL, "train.steps=5")
    command = ["eval", run, "--json", "--threads", "1"]
    alone = synth(*command).stdout
    processes = together(environment, 3, *command)
    assert [process.communicate(timeout=60)[0] for process in processes] == [alone, "", ""]


def test_evaluations_that_differ_are_refused(environment, translating, numbers, tmp_path):
    other = shutil.copytree(translating, tmp_path / "other")
    weights = other / "model.safetensors"
    arrays = {name: array * 1.5 for name, array in tensors.read(weights).items()}
    said = tensors.metadata(weights)
    said.pop("crc32c", None)
    tensors.write(weights, arrays, said)
    test = ["--data", numbers / "test.en", "--data", numbers / "test.de"]
    for first, second, word in [
        ([translating, "--beam", "2"], [translating, "--beam", "3"], "decode.beam (3, rank 0 has 2)"),
        ([translating], [translating, *test], "other data"),
        ([translating], [translating, "--no-text"], "--no-text (given, rank 0 has not given)"),
        ([translating], [other], "the weights"),
    ]:

        def words(rank, first=first, second=second):
            return ["eval", *(second if rank == 1 else first), "--timeout", TIMEOUT]

        for status, errors in ends(together(environment, 2, words)):
            assert status == 1
            assert "rank 1" in last_line(errors) and word in last_line(errors)


def test_an_evaluation_waits_no_longer_than_its_timeout(environment, translating):
    processes = together(environment, 2, "eval", translating, "--timeout", "2", ranks=[0])
    ((status, errors),) = ends(processes)
    assert status == 1
    assert "rank 1 did not come within 2 s" in last_line(errors)


def test_workers_keep_the_order(synth, translating, numbers):
    lines = (numbers / "test.en").read_text()
    one = synth("translate", translating, "--batch-tokens", "64", input=lines)
    many = synth("translate", translating, "--batch-tokens", "64", "--workers", "4", input=lines)
    assert many.stdout == one.stdout and one.stdout.count("\n") == lines.count("\n")


def test_classify_with_workers(train, synth, labelled, tmp_path):
    run = train(labelled, tmp_path / "run", *SMALL, "train.steps=5")
    lines = "".join(f"{'r x ' * (1 + n % 7)}\n" for n in range(50))
    one = synth("classify", run, "--json", "--batch-tokens", "32", input=lines).stdout
    assert (
        synth("classify", run, "--json", "--batch-tokens", "32", "--workers", "3", input=lines).stdout == one
    )


def test_resumes_with_another_number_of_processes(synth, language_recipe, two, tmp_path, train_together):
    run = tmp_path / "run"
    shutil.copytree(two, run)
    longer = [*SMALL, "train.steps=60"]
    synth("train", language_recipe, "--run", run, "--resume", *changes([*longer, "train.accumulate=2"]))
    whole = train_together(language_recipe, tmp_path / "whole", 2, *longer)
    close(run, whole)
    assert [line["step"] for line in metrics(run, "dev")] == [line["step"] for line in metrics(whole, "dev")]
    assert json.loads((run / "run.json").read_text())["processes"] == 1


def test_resumes_from_one_to_two_and_from_three_to_one(
    synth, train, language_recipe, tmp_path, train_together
):
    def settings(steps, processes):
        return [*SMALL, "train.save_every=10", f"train.steps={steps}", f"train.accumulate={6 // processes}"]

    whole = train(language_recipe, tmp_path / "whole", *settings(20, 1))
    for before, after in [(1, 2), (3, 1)]:
        run = train_together(language_recipe, tmp_path / f"run{before}", before, *settings(10, before))
        synth("train", language_recipe, "--run", run, "--resume", "--processes", after,
              *changes(settings(20, after)))  # fmt: skip
        close(run, whole)
        assert json.loads((run / "run.json").read_text())["processes"] == after


@pytest.mark.parametrize(
    "count,words", [(1, ["2 batches", "train.accumulate=2"]), (3, ["divides 2", "3 processes"])]
)
def test_another_step_is_refused(synth, language_recipe, two, count, words):
    before = tensors.contents(two)
    settings = changes([*SMALL, "train.steps=60"])
    done = synth(
        "train", language_recipe, "--run", two, *settings, "--resume", "--processes", str(count), ok=False
    )
    assert done.returncode == 2
    for word in words:
        assert word in last_line(done.stderr)
    assert tensors.contents(two) == before
