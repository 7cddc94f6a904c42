"""train.shard_optimizer: each process keeps a share of the optimizer's state; weights and checkpoints are
those of processes that keep all of it."""

import shutil

import pytest
import tensors
from program import changes, metrics
from runs import saved_step
from together import SMALL, TIMEOUT, close, ends, last_line, together

SHARDED = "train.shard_optimizer=true"
# Wide enough for parameters that are cut, and for some that travel alone (65,536 numbers).
KINDS = {
    "adam": ["model.width=64", "model.feed_forward=1024", "model.attention=R+V", "train.epsilon=1e-6"],
    "adamw": ["train.optimizer=adamw", "train.weight_decay=0.1", "model.layers=2"],
    "adafactor": ["train.optimizer=adafactor", "model.width=128", "model.feed_forward=256"],
}


@pytest.mark.parametrize("kind,count", [("adam", 2), ("adamw", 3), ("adafactor", 3)])
def test_the_weights_are_the_same_bits(language_recipe, tmp_path, train_together, kind, count):
    settings = [*SMALL, "train.steps=12", "train.save_every=5", *KINDS[kind]]
    whole = train_together(language_recipe, tmp_path / "whole", count, *settings)
    shared = train_together(language_recipe, tmp_path / "shared", count, *settings, SHARDED)
    # Weights, complete state of the optimizer, position: nothing says that it was divided.
    tensors.same(shared / "train_state.safetensors", whole / "train_state.safetensors")
    tensors.same(shared / "model.safetensors", whole / "model.safetensors")
    for ours, theirs in zip(metrics(shared, "train"), metrics(whole, "train"), strict=True):
        assert (ours["loss"], ours["gradient_norm"]) == (theirs["loss"], theirs["gradient_norm"])


@pytest.mark.parametrize("kind", ["adam", "adafactor"])
def test_resumes_with_any_number_of_processes(synth, language_recipe, tmp_path, train_together, kind):
    settings = [*SMALL, "train.save_every=10", *KINDS[kind]]
    whole = train_together(language_recipe, tmp_path / "whole", 2, *settings, "train.steps=40")
    run = train_together(language_recipe, tmp_path / "run", 2, *settings, "train.steps=10", SHARDED)

    def go_on(steps, *arguments, **changed):
        keys = [f"{key.replace('__', '.')}={value}" for key, value in changed.items()]
        synth("train", language_recipe, "--run", run, "--resume", *arguments,
              *changes([*settings, f"train.steps={steps}", *keys]))  # fmt: skip
        assert saved_step(run) == steps

    # The same bits as long as the sums are made in the same order: two processes, divided or not.
    go_on(20, "--processes", "2", train__shard_optimizer="false")
    go_on(30, "--processes", "2", train__shard_optimizer="true")
    copy = shutil.copytree(run, tmp_path / "copy")
    go_on(40, "--processes", "2", train__shard_optimizer="true")
    tensors.same(run / "train_state.safetensors", whole / "train_state.safetensors")
    # Another number: up to rounding.
    run = copy
    go_on(40, train__shard_optimizer="true", train__accumulate=2)
    close(run, whole)


def test_more_processes_than_parameters_have_room_for(train, language_recipe, tmp_path, train_together):
    """Adafactor's parameters are not cut, so some processes may have next to nothing."""
    settings = [*SMALL, "train.steps=4", "train.optimizer=adafactor"]
    one = train(language_recipe, tmp_path / "one", *settings, "train.accumulate=4")
    four = train_together(language_recipe, tmp_path / "four", 4, *settings, SHARDED)
    close(four, one)


def test_all_processes_must_want_it(environment, language_recipe, tmp_path):
    def words(rank):
        own = changes([SHARDED]) if rank == 1 else []
        return ["train", language_recipe, "--run", tmp_path / "run", "--timeout", TIMEOUT, *own]

    for status, errors in ends(together(environment, 2, words)):
        assert status == 1
        assert "rank 1" in last_line(errors) and "train.shard_optimizer" in last_line(errors)
