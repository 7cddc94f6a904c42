"""What training logs about dev is what `synth eval` finds with the same weights."""

import json
import random

import pytest
from program import metrics

FEW = ["train.steps=40", "train.eval_every=10", "train.save_every=40", "decode.beam=1", "model.dropout=0.0"]

SUMMARIES = """
task = "summarization"

[data]
root = "{root}"
train = "train.tsv"
dev = "dev.tsv"
columns = ["source", "target"]
tokenizer = "words"
vocabulary = 0

[model]
width = 16
heads = 2
layers = 1
feed_forward = 32
max_length = 24

[train]
batch_tokens = 512
learning_rate = 1e-2
schedule = "constant"
warmup = 2
log_every = 10
"""


def assert_last_validation_is_true(synth, run, watched):
    """The last line about dev, against a fresh process with the weights of that step."""
    logged = metrics(run, "dev")[-1]
    found = json.loads(synth("eval", run, "--weights", "last", "--data", "dev", "--json").stdout)
    scores = {key: value for key, value in logged.items() if key not in ("step", "split")}
    assert watched in scores and len({line[watched] for line in metrics(run, "dev")}) > 1
    assert scores == {key: found[key] for key in scores}


@pytest.mark.parametrize("attention", ["V", "R", "FR+V"])
@pytest.mark.parametrize("optimizer", ["adam", "adamw", "adafactor"])
def test_scores_of_translations(synth, train, translation_recipe, tmp_path, optimizer, attention):
    settings = [f"train.optimizer={optimizer}", f"model.attention={attention}", "train.watch=chrf", *FEW]
    run = train(translation_recipe, tmp_path / "run", *settings)
    assert_last_validation_is_true(synth, run, "chrf")


@pytest.mark.parametrize("tied", ["true", "false"])
def test_scores_of_summaries(synth, train, tmp_path, tied):
    rng = random.Random(3)
    for split, count in [("train", 400), ("dev", 40)]:
        texts = [[rng.choice("red blue green bird stone".split()) for _ in range(8)] for _ in range(count)]
        rows = [f"{' '.join(words)}\t{' '.join(words[:3])}\n" for words in texts]
        (tmp_path / f"{split}.tsv").write_text("".join(["source\ttarget\n", *rows]))
    (tmp_path / "recipe.toml").write_text(SUMMARIES.format(root=tmp_path))
    settings = [f"model.tied={tied}", "train.watch=rouge1", *FEW]
    run = train(tmp_path / "recipe.toml", tmp_path / "run", *settings)
    assert_last_validation_is_true(synth, run, "rouge1")


def test_losses_of_a_language_model(synth, train, language_recipe, tmp_path):
    run = train(language_recipe, tmp_path / "run", "model.attention=R", *FEW)
    assert_last_validation_is_true(synth, run, "loss")
