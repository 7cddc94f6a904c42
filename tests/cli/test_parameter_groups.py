"""Parameter groups: what decays, what learns faster, and where they are recorded."""

import json
import re

import numpy
import pytest
import tensors
from program import changes

# One of every role: learned positions, norms, biases, a table, a mixture, biases of logits.
SMALL = ["model.attention=R+D", "model.positions=learned", "train.steps=1", "train.warmup=0"]
LOGITS = (".R.table", ".D.out.bias", ".logits.mixture", "positions.relative")


def is_logits(name):
    return name.endswith(LOGITS)


def is_vector(name):
    return "norm." in name or (name.endswith(".bias") and not is_logits(name))


def is_matrix(name):
    return not is_logits(name) and not is_vector(name)


@pytest.fixture(scope="module")
def weights(train, language_recipe, tmp_path_factory):
    """The weights after one step, or before it where the learning rate is 0."""
    folder = tmp_path_factory.mktemp("groups")

    def trained(name, *settings):
        return tensors.read(train(language_recipe, folder / name, *SMALL, *settings) / "model.safetensors")

    return trained


@pytest.fixture(scope="module")
def usual(weights):
    return weights("usual")


def test_the_factor_moves_logits_and_nothing_else(weights, usual):
    before, faster = (
        weights("before", "train.learning_rate=0"),
        weights("faster", "train.logit_learning_rate=10"),
    )
    for name, start in before.items():
        if is_logits(name):
            moved = usual[name] - start
            assert numpy.abs(moved).max() > 1e-3, name
            numpy.testing.assert_allclose(faster[name] - start, 10 * moved, rtol=1e-3, atol=1e-6)
        else:
            assert faster[name].tobytes() == usual[name].tobytes(), name
    assert any(map(is_logits, before)) and any(map(is_vector, before)) and any(map(is_matrix, before))


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "adafactor"])
def test_only_matrices_and_embeddings_decay(weights, optimizer):
    own = f"train.optimizer={optimizer}"
    plain = weights(f"{optimizer} plain", own)
    decayed = weights(f"{optimizer} decayed", own, "train.weight_decay=0.5")
    for name in plain:
        same = plain[name].tobytes() == decayed[name].tobytes()
        assert same != is_matrix(name), name


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "adafactor"])
def test_a_resumed_run_is_the_same(train, synth, language_recipe, tmp_path, optimizer):
    more = ["model.attention=R+D", "model.positions=relative", f"train.optimizer={optimizer}"]
    more += ["train.weight_decay=0.1", "train.logit_learning_rate=10"]
    whole = train(language_recipe, tmp_path / "whole", *more, "train.steps=7")
    run = train(language_recipe, tmp_path / "run", *more, "train.steps=3")
    synth("train", language_recipe, "--run", run, "--resume", *changes([*more, "train.steps=7"]))
    for name in ["train_state.safetensors", "model.safetensors"]:
        tensors.same(run / name, whole / name)


def test_another_factor_is_another_run(train, mistake, language_recipe, tmp_path):
    run = train(language_recipe, tmp_path / "run", *SMALL, "train.logit_learning_rate=10")
    before = tensors.contents(run)
    words = [run, "train.logit_learning_rate (3.0, was 10.0)"]
    other = changes([*SMALL, "train.logit_learning_rate=3"])
    mistake("train", language_recipe, "--run", run, "--resume", *other, words=words)
    assert tensors.contents(run) == before


def without_groups(run):
    """Makes a run one of the time before there were groups."""
    state, config = run / "train_state.safetensors", run / "config.toml"
    said = tensors.metadata(state)
    del said["parameter_groups"]
    tensors.write(state, tensors.read(state), said)
    lines = config.read_text().splitlines(keepends=True)
    config.write_text("".join(line for line in lines if not line.startswith("logit_learning_rate")))


def test_a_run_from_before_there_were_groups(train, synth, mistake, language_recipe, tmp_path):
    whole = train(language_recipe, tmp_path / "whole", *SMALL, "train.steps=4")
    run = train(language_recipe, tmp_path / "run", *SMALL)
    without_groups(run)
    wrong = changes([*SMALL, "train.logit_learning_rate=3"])
    mistake(
        "train",
        language_recipe,
        "--run",
        run,
        "--resume",
        *wrong,
        words=["train.logit_learning_rate (3.0, was 1.0)"],
    )
    synth("train", language_recipe, "--run", run, "--resume", *changes([*SMALL, "train.steps=4"]))
    tensors.same(run / "train_state.safetensors", whole / "train_state.safetensors")


def test_a_run_from_before_there_were_groups_that_decayed(train, mistake, language_recipe, tmp_path):
    run = train(language_recipe, tmp_path / "run", *SMALL, "train.weight_decay=0.1")
    without_groups(run)
    mistake(
        "train", "--run", run, "--resume", words=["earlier version", "train.weight_decay", "train.init_from"]
    )


def test_where_the_groups_are_recorded(synth, language_recipe, tmp_path):
    run = tmp_path / "run"
    more = [*SMALL, "train.weight_decay=0.1", "train.logit_learning_rate=2.5"]
    said = synth("train", language_recipe, "--run", run, *changes(more)).stderr
    arrays = tensors.read(run / "model.safetensors")
    groups = []
    for name, belongs, factor, decay in [
        ("matrices", is_matrix, 1, 0.1),
        ("vectors", is_vector, 1, 0),
        ("logits", is_logits, 2.5, 0),
    ]:
        own = [array for key, array in arrays.items() if belongs(key)]
        groups.append(
            {
                "name": name,
                "tensors": len(own),
                "parameters": sum(array.size for array in own),
                "learning_rate_factor": factor,
                "weight_decay": decay,
            }
        )
    assert json.loads((run / "run.json").read_text())["parameter_groups"] == groups
    state = tensors.metadata(run / "train_state.safetensors")
    assert json.loads(state["parameter_groups"]) == groups
    (line,) = [line for line in said.splitlines() if line.startswith("  groups ")]
    for group in groups:
        numbers = f"{group['parameters']:,} in {group['tensors']} tensors"
        settings = f"(learning rate × {group['learning_rate_factor']}, decay {group['weight_decay']})"
        assert f"{group['name']} {numbers} {settings}" in line


def test_groups_without_members_are_not_in_the_summary(synth, language_recipe, tmp_path):
    said = synth("train", language_recipe, "--run", tmp_path / "run", "--set", "model.attention=V").stderr
    (line,) = [line for line in said.splitlines() if line.startswith("  groups ")]
    assert "matrices" in line and "vectors" in line and "logits" not in line


def test_the_groups_are_explained(synth):
    explained = synth("train", "--explain").stdout
    for group in ["matrices", "vectors", "logits"]:
        assert re.search(rf"\bgroups? {group}\b|\band {group}\b", explained), group


def test_the_key_is_explained(synth):
    (line,) = [
        line
        for line in synth("train", "--explain").stdout.splitlines()
        if line.startswith("logit_learning_rate = 1.0")
    ]
    assert "factor of the learning rate" in line and "logits" in line
