"""Universal Transformers with adaptive halting: trained, logged, resumed, decoded."""

import json

import pytest
from program import changes, metrics

HALTING = ["model.recurrent_depth=4", "model.halting_threshold=0.9", "model.dropout=0", "train.steps=6"]


@pytest.fixture(scope="module")
def halting_run(train, language_recipe, tmp_path_factory):
    return train(language_recipe, tmp_path_factory.mktemp("halting") / "run", *HALTING)


def test_pondering_is_logged_and_part_of_the_objective(halting_run, train, language_recipe, tmp_path):
    settings = [*HALTING, "train.label_smoothing=0", "train.ponder_cost=0.5", "train.steps=1"]
    (line,) = metrics(train(language_recipe, tmp_path / "run", *settings), "train")
    assert 1 <= line["depth"] <= 4 and line["depth"] <= line["ponder"] <= line["depth"] + 1
    assert line["objective"] == pytest.approx(line["loss"] + 0.5 * line["ponder"], rel=1e-6)
    assert all("ponder" in line for line in metrics(halting_run, "train"))
    assert not any("ponder" in line for line in metrics(halting_run, "dev"))


def test_both_sides_count(train, translation_recipe, tmp_path):
    settings = [*HALTING, "train.label_smoothing=0", "train.ponder_cost=0.5", "train.steps=1"]
    (line,) = metrics(train(translation_recipe, tmp_path / "run", *settings), "train")
    assert line["objective"] == pytest.approx(line["loss"] + 0.5 * 2 * line["ponder"], rel=1e-6)


def test_a_high_cost_makes_positions_stop_earlier(train, language_recipe, tmp_path):
    settings = [*HALTING, "model.halting_threshold=0.99", "train.steps=40"]
    depth = {}
    for cost in (0, 3):
        run = train(language_recipe, tmp_path / f"run{cost}", *settings, f"train.ponder_cost={cost}")
        depth[cost] = metrics(run, "train")[-1]["depth"]
    assert depth[3] < depth[0]


def test_a_resumed_run_is_the_same(halting_run, train, synth, language_recipe, tmp_path):
    run = train(language_recipe, tmp_path / "run", *HALTING[:-1], "train.steps=2")
    synth("train", language_recipe, "--run", run, "--resume", *changes(HALTING))
    assert (run / "model.safetensors").read_bytes() == (halting_run / "model.safetensors").read_bytes()
    ours, theirs = (
        [(line["ponder"], line["depth"]) for line in metrics(r, "train")] for r in (run, halting_run)
    )
    assert len(ours) == 6 and ours == theirs


def test_it_decodes_and_evaluates(halting_run, synth):
    assert synth("generate", halting_run, "--prompt", "the", "--tokens", "12").stdout.startswith("the")
    logged = metrics(halting_run, "dev")[-1]["loss"]
    assert json.loads(synth("eval", halting_run, "--json").stdout)["loss"] == pytest.approx(logged, rel=1e-6)


@pytest.mark.parametrize(
    "setting, message",
    [
        ("model.halting_threshold=0.9", "model.halting_threshold is set without model.recurrent_depth"),
        ("model.halting_threshold=1.5", "model.halting_threshold is 1.5"),
        ("train.ponder_cost=-1", "train.ponder_cost is -1"),
    ],
)
def test_mistakes(synth, language_recipe, tmp_path, setting, message):
    done = synth("train", language_recipe, "--run", tmp_path / "run", "--set", setting, ok=False)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()
