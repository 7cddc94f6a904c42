"""What the system refuses, and numbers that are none: what is said, and what is kept."""

import resource
import signal

import numpy
import pytest
import tensors
import tomllib
from program import changes, metrics


def no_file_larger_than(bytes):
    """As on a full disk, a write that goes beyond fails."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes, resource.RLIM_INFINITY))

    return {"preexec_fn": limit, "restore_signals": False}


@pytest.mark.parametrize("full_at", ["model", "state"])
def test_a_full_disk_while_saving(synth, train, language_recipe, copy, tmp_path, full_at):
    model, state = (
        size.stat().st_size for size in [copy / "model.safetensors", copy / "train_state.safetensors"]
    )
    room = model // 2 if full_at == "model" else (model + state) // 2
    before = tensors.contents(copy)
    more = ["train", "--run", copy, "--resume", "--set", "train.steps=8"]
    done = synth(*more, ok=False, **no_file_larger_than(room))
    assert done.returncode == 1
    error = done.stderr.splitlines()[-1]
    assert error.startswith("synth: error: ") and "File too large" in error and str(copy) in error
    after = tensors.contents(copy)
    assert after["train_state.safetensors"] == before["train_state.safetensors"]
    if full_at == "model":
        assert after["model.safetensors"] == before["model.safetensors"]
    assert not [name for name in after if ".tmp" in name]
    synth("eval", copy)
    synth(*more)  # there is room again
    whole = train(language_recipe, tmp_path / "whole", "train.steps=8")
    for name in ["model.safetensors", "train_state.safetensors"]:
        tensors.same(copy / name, whole / name)
    assert metrics(copy, "dev") == metrics(whole, "dev")


def test_a_full_disk_while_tokenizing(synth, language_recipe, tmp_path):
    settings = changes([f"data.cache={tmp_path}/cache"])
    arguments = ["train", language_recipe, "--run", tmp_path / "run", *settings]
    done = synth(*arguments, ok=False, **no_file_larger_than(500))
    assert done.returncode == 1
    assert done.stderr.startswith("synth: error: ") and done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()
    synth(*arguments)


def test_a_folder_that_cannot_be_made(synth, language_recipe, tmp_path):
    (tmp_path / "file").write_text("")
    done = synth("train", language_recipe, "--run", tmp_path / "file" / "run", ok=False)
    assert done.returncode in (1, 2)
    assert done.stderr.splitlines()[-1].startswith("synth: error: ")


def test_a_cache_that_cannot_be_made(mistake, language_recipe, tmp_path):
    (tmp_path / "cache").write_text("")
    words = [f"{tmp_path}/cache is a file", "set data.cache to a folder that can be written"]
    settings = changes([f"data.cache={tmp_path}/cache"])
    mistake("train", language_recipe, "--run", tmp_path / "run", *settings, words=words)
    assert not (tmp_path / "run").exists()


def test_a_loss_that_is_not_finite(synth, language_recipe, text, tmp_path):
    wild = [
        "train.learning_rate=1e30",
        "train.clip=0",
        "train.warmup=0",
        "train.save_every=1",
        "train.steps=50",
    ]
    done = synth("train", language_recipe, "--run", tmp_path / "run", *changes(wild), ok=False)
    assert done.returncode == 1
    error = done.stderr.splitlines()[-1]
    assert error.startswith("synth: error: step ") and "not a finite number" in error
    assert f"{text}/train.txt:" in error and "untouched" in error
    step = int(error.split("step ")[1].split(":")[0])
    assert tensors.metadata(tmp_path / "run" / "train_state.safetensors")["step"] == str(step - 1)
    for array in tensors.read(tmp_path / "run" / "train_state.safetensors").values():
        assert numpy.isfinite(array).all()


def test_the_first_tensor_that_went_wrong_is_named(synth, copy):
    state = copy / "train_state.safetensors"
    arrays = {name: array.copy() for name, array in tensors.read(state).items()}
    name = next(n for n in arrays if n.startswith("model.") and ".feed_forward." in n and arrays[n].ndim == 2)
    arrays[name][:] = 3e38
    tensors.write(state, arrays, tensors.metadata(state))
    before = tensors.contents(copy)
    done = synth("train", "--run", copy, "--resume", "--set", "train.steps=9", ok=False)
    assert done.returncode == 1
    error = done.stderr.splitlines()[-1]
    assert error.startswith("synth: error: step 5: ") and "decoder.layers.0.feed_forward" in error
    after = tensors.contents(copy)
    # The settings are those that it was last trained with; everything else is as it was.
    assert tomllib.loads(after["config.toml"].decode())["train"]["steps"] == 9
    assert [file for file in before if after[file] != before[file]] == ["config.toml"]


def test_a_model_that_does_not_fit_into_memory(synth, language_recipe, tmp_path):
    # So large that it is refused at once: nothing of it is ever filled.
    huge = changes(["model.feed_forward=1000000000000"])
    done = synth("train", language_recipe, "--run", tmp_path / "run", *huge, ok=False)
    assert done.returncode == 1, (done.returncode, done.stderr)
    assert done.stderr.startswith("synth: error: ") and done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()
