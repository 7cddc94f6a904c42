"""Signals: a training saves and ends, a comparison passes them on, and no process outlives who started it."""

import os
import signal
import subprocess
import time

import pytest
import tensors
from program import alive, changes, children_of, wait_until
from runs import saved_step

LONG = ["train.steps=100000", "train.save_every=20", "train.eval_every=100000", "train.log_every=1000"]


@pytest.fixture
def comparison(started, language_recipe, tmp_path):
    """A comparison whose first run is being trained, and the process that trains it."""
    folder = tmp_path / "all"
    process = started("compare", language_recipe, "--attention", "V,R", "--run", folder, *changes(LONG))
    assert wait_until(process, (folder / "V" / "train_state.safetensors").exists)
    (child,) = children_of(process)
    return process, child, folder


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_comparison_passes_it_on(comparison, number):
    process, child, folder = comparison
    process.send_signal(number)  # to this process alone
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1 and out == ""
    assert not alive(child)
    assert "stopping after this step" in err
    last = err.splitlines()[-1]
    assert last.startswith("synth: error: V stopped at step") and "the same command goes on" in last
    assert f"stopped at step {saved_step(folder / 'V')}, saved" in last
    assert not (folder / "R").exists()


@pytest.fixture
def side_by_side(started, language_recipe, tmp_path):
    """Starts a comparison that trains two of three at a time; when both have saved: it, and the folder."""

    def start(steps):
        folder = tmp_path / "all"
        settings = [f"train.steps={steps}", "train.save_every=20", "train.eval_every=100000"]
        command = ["compare", language_recipe, "--attention", "V,R,Fix", "--jobs", "2", "--run", folder]
        process = started(*command, *changes(settings))
        states = [folder / name / "train_state.safetensors" for name in ("V", "R")]
        assert wait_until(process, lambda: all(state.exists() for state in states))
        return process, folder

    return start


def test_a_comparison_passes_it_on_to_all_that_train(side_by_side):
    process, folder = side_by_side(100000)
    children = children_of(process)
    assert len(children) == 2
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert not any(map(alive, children))
    reasons = "; ".join(f"{name} stopped at step {saved_step(folder / name)}, saved" for name in ("V", "R"))
    assert err.splitlines()[-1].startswith(f"synth: error: {reasons}; the same command goes on")
    assert err.count("synth: error") == 1
    assert not (folder / "Fix").exists()


def test_when_one_is_lost_those_beside_it_are_finished(side_by_side):
    process, folder = side_by_side(400)
    first, _ = children_of(process)  # in the order in which they were started
    os.kill(first, signal.SIGKILL)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "synth: error: the training of V was killed by signal 9" in err.splitlines()[-1]
    assert "\nV has failed; what trains beside it is finished first\n" in err
    assert saved_step(folder / "R") == 400
    assert not (folder / "Fix").exists()


def test_to_the_whole_group(environment, language_recipe, tmp_path):
    """As `timeout` and terminals do it: one request, though it comes to the child twice."""
    folder = tmp_path / "all"
    command = [os.environ["SYNTH"], "compare", language_recipe, "--attention", "V", "--run", folder]
    process = subprocess.Popen(
        [*command, *changes(LONG)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    try:
        assert wait_until(process, (folder / "V" / "train_state.safetensors").exists)
        os.killpg(process.pid, signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 1
    assert f"stopped at step {saved_step(folder / 'V')}, saved" in err


def test_what_was_stopped_goes_on(synth, started, train, language_recipe, tmp_path):
    settings = ["train.steps=300", "train.save_every=10", "train.eval_every=100"]
    command = ["compare", language_recipe, "--attention", "V", "--run", tmp_path / "all", *changes(settings)]
    process = started(*command)
    wait_until(process, (tmp_path / "all" / "V" / "train_state.safetensors").exists)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    synth(*command)
    whole = train(language_recipe, tmp_path / "whole", *settings)
    tensors.same(tmp_path / "all" / "V" / "train_state.safetensors", whole / "train_state.safetensors")


def test_a_killed_comparison_takes_its_child_along(comparison):
    process, child, _ = comparison
    assert alive(child)
    process.send_signal(signal.SIGKILL)
    process.wait()
    end = time.monotonic() + 10
    while alive(child) and time.monotonic() < end:
        time.sleep(0.01)
    assert not alive(child)


def test_under_nohup_a_closed_terminal_means_nothing(environment, language_recipe, tmp_path):
    ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    command = [os.environ["SYNTH"], "train", language_recipe, "--run", tmp_path / "run"]
    command += changes(["train.steps=60", "train.save_every=5"])
    process = subprocess.Popen(command, env=environment, preexec_fn=ignore, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)  # fmt: skip
    wait_until(process, (tmp_path / "run" / "train_state.safetensors").exists)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert saved_step(tmp_path / "run") == 60


@pytest.mark.parametrize("command", ["compare", "train"])
def test_an_ignored_interrupt_counts(environment, language_recipe, tmp_path, command):
    """A script ignores SIGINT for what it starts in the background: `synth compare … & kill -INT $!`."""
    ignore = lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)  # noqa: E731
    folder = tmp_path / "all"
    more = {"compare": ["--attention", "V"], "train": ["--processes", "2", "--threads", "1"]}[command]
    run = {"compare": folder / "V", "train": folder}[command]
    words = [os.environ["SYNTH"], command, language_recipe, "--run", folder, *more, *changes(LONG)]
    process = subprocess.Popen(words, env=environment, preexec_fn=ignore, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)  # fmt: skip
    try:
        assert wait_until(process, (run / "train_state.safetensors").exists)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 1
    assert f"stopped at step {saved_step(run)}, saved" in err.splitlines()[-1]
