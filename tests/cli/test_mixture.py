"""T5's en-mix in small: span corruption, GLUE, SuperGLUE and SQuAD in one mixture and one model."""

import json

import pytest
import samples
from program import changes, scores

RECIPE = """
task = "text-to-text"

[data]
root = "{root}"
tasks = {tasks}
train = {train}
dev = {dev}
tokenizer = "words"
vocabulary = 0
too_long = "truncate"

[model]
width = 32
heads = 2
layers = 1
feed_forward = 64
max_length = 48
dropout = 0.0
norm = "rms"
bias = false
positions = "relative"

[train]
steps = {steps}
batch_tokens = 1024
learning_rate = 5e-3
schedule = "cosine"
warmup = 20
label_smoothing = 0.0
eval_every = {steps}
save_every = {steps}
log_every = 50

[decode]
beam = 1
max_length = 8
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mixture")
    samples.glue(folder / "glue")
    samples.superglue(folder / "superglue")
    samples.squad(folder / "squad", train=400, dev=40)
    samples.plain(folder / "c4", 600, 60)
    return folder


@pytest.fixture(scope="module")
def recipe(data, tmp_path_factory):
    def make(tasks, train, dev, steps=20):
        path = tmp_path_factory.mktemp("recipe") / "mixture.toml"
        lists = {key: json.dumps(value) for key, value in [("tasks", tasks), ("train", train), ("dev", dev)]}
        path.write_text(RECIPE.format(root=data, steps=steps, **lists))
        return path

    return make


SMALL = (
    ["span-corruption", "squad", "sst2"],
    ["c4/train.txt.gz", "squad/train-v1.1.json", "glue/SST-2/train.tsv"],
    ["c4/dev.txt.gz", "squad/dev-v1.1.json", "glue/SST-2/dev.tsv"],
)


@pytest.fixture(scope="module")
def run(train, recipe, tmp_path_factory):
    return train(recipe(*SMALL, steps=350), tmp_path_factory.mktemp("runs") / "mixture", timeout=600)


def test_one_model_learns_questions_and_plain_text(synth, run):
    found = scores(synth, run)
    assert found["squad_exact_match"] >= 80 and found["squad_f1"] >= 80
    assert found["sst2_accuracy"] >= 80
    assert found["span-corruption_log_perplexity"] < 1.8  # 10 words and sentinels: over 2.3 without a rule
    assert found["span-corruption_accuracy"] >= 40
    questions = (found["squad_exact_match"] + found["squad_f1"]) / 2
    assert found["average"] == pytest.approx((questions + found["sst2_accuracy"]) / 2)
    assert "word_perplexity" not in found and "accuracy" not in found


def test_questions_in_t5s_form(synth, run):
    line = "question: What colour is it ? context: The tree is , as we know , green .\n"
    assert synth("translate", run, input=line).stdout == "green\n"


def test_a_split_may_lack_a_task(synth, run, data):
    files = [data / "c4/dev.txt.gz", "", data / "glue/SST-2/dev.tsv"]
    found = scores(synth, run, *(word for file in files for word in ("--data", file)))
    assert "squad_f1" not in found and "sst2_accuracy" in found
    only = scores(synth, run, "--data", data / "c4/dev.txt.gz", "--data", "", "--data", "")
    assert "span-corruption_log_perplexity" in only and "average" not in only


def test_both_dev_sets_of_mnli(synth, train, recipe, tmp_path):
    path = recipe(
        ["mnli", "mnli_mm"],
        ["glue/MNLI/train.tsv", ""],
        ["glue/MNLI/dev_matched.tsv", "glue/MNLI/dev_mismatched.tsv"],
    )
    found = scores(synth, train(path, tmp_path / "run"))
    assert {"mnli_accuracy", "mnli-mm_accuracy"} <= set(found)
    assert found["glue"] == pytest.approx((found["mnli_accuracy"] + found["mnli-mm_accuracy"]) / 2)


def test_several_files_of_one_task(synth, train, recipe, data, tmp_path):
    for part in "ab":
        samples.plain(data / "parts", 100, 10, (f"part-{part}.txt", f"dev-{part}.txt"))
    path = recipe(
        ["span-corruption", "sst2"],
        ["parts/part-*.txt", "glue/SST-2/train.tsv"],
        ["parts/dev-*.txt", "glue/SST-2/dev.tsv"],
    )
    run = train(path, tmp_path / "run")
    assert len([file for file in json.loads((run / "run.json").read_text())["data"] if "part-" in file]) == 2
    assert "span-corruption_accuracy" in scores(synth, run)


def share_of_batches(text):
    """Batches of an epoch as the summary has them: "train  1,234 tokens in 56 lines, 78 batches"."""
    line = next(line for line in text.splitlines() if line.strip().startswith("train"))
    return int(line.split(" lines, ")[1].split()[0].replace(",", ""))


def test_mixing_settings_change_an_epoch(synth, recipe):
    path = recipe(*SMALL)

    def batches(*settings):
        return share_of_batches(
            synth("train", path, "--dry-run", *changes(["train.steps=1", *settings])).stdout
        )

    whole, capped = batches(), batches("data.mixing_cap=60")
    assert capped < whole
    # The same number of examples, but more of the task that has longer ones and is small.
    assert batches("data.mixing_temperature=4") != whole


@pytest.mark.parametrize(
    "settings, words",
    [
        (["data.mixing_temperature=0.5"], ["data.mixing_temperature is 0.5", "at least 1"]),
        (['data.tasks=["span-corruption", "squadd", "sst2"]'], ["squadd", "squad"]),
        (['data.train=["", "", ""]'], ["no files are named"]),
        (['data.dev=["", "", ""]'], ["names no file"]),
        (
            ['data.tasks=["span-corruption", "span-corruption", "span-corruption"]'],
            ['task = "span-corruption"'],
        ),
    ],
)
def test_mistakes_of_mixtures(mistake, recipe, tmp_path, settings, words):
    mistake("train", recipe(*SMALL), "--run", tmp_path / "run", *changes(settings), words=words)
    assert not (tmp_path / "run").exists()


def test_a_question_without_an_answer_is_named(mistake, recipe, data, tmp_path):
    questions = [{"question": "q", "id": "1", "answers": [], "is_impossible": True}]
    nested = {"data": [{"title": "t", "paragraphs": [{"context": "c", "qas": questions}]}], "version": "2.0"}
    samples.write(data / "squad/two.json", [json.dumps(nested)])
    path = recipe(["squad"], ["squad/two.json"], ["squad/dev-v1.1.json"])
    words = ["two.json:1, data[0], paragraphs[0], qas[0]", "no answer", "SQuAD 2.0"]
    mistake("train", path, "--run", tmp_path / "run", words=words)


def test_an_empty_name_is_a_mistake_elsewhere(mistake, translation_recipe, tmp_path):
    setting = changes(['data.train=["train.en", ""]'])
    mistake(
        "train", translation_recipe, "--run", tmp_path / "run", *setting, words=["empty name", "translation"]
    )
