"""A run that was stopped, however it was stopped, goes on as if nothing had happened: bit for bit."""

import random
import shlex
import shutil
import signal
import time

import numpy
import pytest
import tensors
import tomllib
from program import changes, metrics, wait_until
from runs import assert_same_run, saved_step

STEPS = 240
LONG = [
    f"train.steps={STEPS}",
    "train.save_every=7",
    "train.eval_every=20",
    "train.log_every=5",
    "train.optimizer=adamw",
    "train.weight_decay=0.01",
    "model.attention=R+D",
    "model.layers=2",
    "model.attention_dropout=0.1",
]


@pytest.fixture(scope="module")
def never_stopped(train, language_recipe, tmp_path_factory):
    return train(language_recipe, tmp_path_factory.mktemp("resume") / "never_stopped", *LONG)


def size(file):
    return file.stat().st_size if file.exists() else 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_killed_at_any_moment(started, train, language_recipe, never_stopped, tmp_path, seed):
    draw = random.Random(seed)
    run, kills = tmp_path / "run", 0
    for _ in range(4):
        resume = ["--resume"] if saved_step(run) else []
        if not resume:
            shutil.rmtree(run, ignore_errors=True)
        process = started("train", language_recipe, "--run", run, *changes(LONG), *resume)
        before = size(run / "metrics.jsonl") if resume else 0
        wait_until(process, lambda least=before: size(run / "metrics.jsonl") > least)
        time.sleep(draw.uniform(0, 0.1))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kills += process.returncode == -signal.SIGKILL
    assert kills >= 2
    resume = ["--resume"] if saved_step(run) else []
    if not resume:
        shutil.rmtree(run)
    done = started("train", language_recipe, "--run", run, *changes(LONG), *resume)
    assert done.wait(timeout=120) == 0
    assert_same_run(run, never_stopped)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_saves_and_leaves(started, synth, never_stopped, language_recipe, tmp_path, number):
    run = tmp_path / "run"
    process = started("train", language_recipe, "--run", run, *changes(LONG))
    assert wait_until(process, lambda: size(run / "metrics.jsonl") > 0)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1 and out == ""
    step = saved_step(run)
    assert 0 < step < STEPS
    assert "stopping after this step" in err
    last = err.splitlines()[-1]
    advice = f"continue with: synth train --run {run} --resume"
    assert last == f"synth: error: stopped at step {step}, saved; {advice}"
    synth("train", "--run", run, "--resume")  # as the message says
    assert_same_run(run, never_stopped)


def logged_step(run):
    """The last step in the log; 0: there is none."""
    lines = metrics(run) if (run / "metrics.jsonl").exists() else []
    return lines[-1]["step"] if lines else 0


def go_on(errors):
    """The words of the command that the last line says to continue with."""
    advice = errors.splitlines()[-1].partition("continue with: ")[2]
    words = shlex.split(advice)
    assert words[0] == "synth", errors
    return words[1:]


@pytest.mark.parametrize("processes", [1, 2])
def test_the_command_to_go_on_with_is_complete(started, synth, language_recipe, tmp_path, processes):
    """Of a new run, and of one that was resumed with another division of its steps and other settings."""
    run = tmp_path / "a run"
    endless = ["train.steps=1000000", "train.save_every=1000000", "train.eval_every=1000000"]
    count = ["--processes", str(processes)] if processes > 1 else []

    def stopped(*words):
        step = saved_step(run)
        process = started(*words)
        assert wait_until(process, lambda: logged_step(run) > step)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 1 and saved_step(run) > step, errors
        return go_on(errors)

    batches = f"train.accumulate={2 // processes}"
    first = stopped("train", language_recipe, "--run", run, *count, *changes([*endless, batches]))
    assert first == ["train", "--run", str(run), "--resume", *count]
    assert stopped(*first) == first
    # The other way round: two processes for one, or one for two.
    other = ["--processes", "2"] if processes == 1 else []
    divided = changes([f"train.accumulate={processes}", 'train.watch="loss"'])
    again = stopped("train", "--run", run, "--resume", *other, *divided)
    last = stopped(*again)
    assert last == again == ["train", "--run", str(run), "--resume", *other]  # the folder has the settings
    refused = synth(*again, "--set", "train.accumulate=3", ok=False)
    now = "2 processes with" if processes == 1 else "1 process with"
    assert refused.returncode == 2 and now in refused.stderr


def test_a_run_that_was_made_longer_stays_longer(synth, language_recipe, tmp_path):
    run = tmp_path / "run"
    synth("train", language_recipe, "--run", run)
    synth("train", "--run", run, "--resume", *changes(["train.steps=6", "train.patience=9"]))
    assert saved_step(run) == 6
    settings = tomllib.loads((run / "config.toml").read_text())["train"]
    assert (settings["steps"], settings["patience"]) == (6, 9)
    assert "6/6" in synth("runs", tmp_path).stdout.replace(" ", "")
    assert "6 steps" in synth("train", "--run", run, "--resume").stderr


def test_the_weights_to_start_from_are_for_a_new_run(synth, mistake, language_recipe, tmp_path):
    run = tmp_path / "run"
    synth("train", language_recipe, "--run", run)
    words = ["--init-from and --resume exclude each other"]
    mistake("train", "--run", run, "--resume", "--init-from", run, words=words)


def test_a_stopped_process_in_the_way(started, mistake, language_recipe, tmp_path):
    """A signal that it would get only when it goes on is no advice."""
    run = tmp_path / "run"
    process = started("train", language_recipe, "--run", run, *changes(["train.steps=1000000"]))
    assert wait_until(process, lambda: saved_step(run) > 0)
    process.send_signal(signal.SIGSTOP)
    pid = process.pid
    words = [run, f"process {pid}", "is stopped", f"kill -CONT {pid}", f"kill -9 {pid}"]
    mistake("train", "--run", run, "--resume", words=words)


def test_a_second_signal_leaves_at_once(started, language_recipe, tmp_path):
    run = tmp_path / "run"
    endless = ["train.accumulate=100000000", "train.steps=1"]
    process = started("train", language_recipe, "--run", run, *changes(endless))
    assert wait_until(process, (run / "metrics.jsonl").exists)
    time.sleep(0.3)  # into the step
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert process.returncode == 1
    assert not (run / "train_state.safetensors").exists()


def test_steps_may_be_added(train, synth, language_recipe, tmp_path):
    whole = train(language_recipe, tmp_path / "whole", "train.steps=8")
    run = train(language_recipe, tmp_path / "run", "train.steps=4")
    synth("train", language_recipe, "--run", run, "--resume", "--set", "train.steps=8")
    assert_same_run(run, whole)


def test_a_finished_run_resumed_stays_as_it_is(train, synth, language_recipe, tmp_path):
    run = train(language_recipe, tmp_path / "run")
    before = tensors.contents(run)
    synth("train", "--run", run, "--resume")
    after = {name: data for name, data in tensors.contents(run).items() if name in before}
    assert after == before


def test_how_often_it_saves_may_change(train, synth, language_recipe, tmp_path):
    whole = train(language_recipe, tmp_path / "whole", "train.steps=8")
    run = train(language_recipe, tmp_path / "run", "train.steps=4")
    often = ["train.steps=8", "train.save_every=1", "train.keep=1", "decode.beam=2"]
    synth("train", language_recipe, "--run", run, "--resume", *changes(often))
    tensors.same(run / "train_state.safetensors", whole / "train_state.safetensors")
    assert [file.name for file in (run / "checkpoints").iterdir()] == ["step-00000008.safetensors"]


@pytest.mark.parametrize("optimizer", ["adam", "adafactor"])
def test_every_optimizer_resumes(train, synth, language_recipe, tmp_path, optimizer):
    whole = train(language_recipe, tmp_path / "whole", f"train.optimizer={optimizer}", "train.steps=7")
    run = train(language_recipe, tmp_path / "run", f"train.optimizer={optimizer}", "train.steps=3")
    synth(
        "train",
        language_recipe,
        "--run",
        run,
        "--resume",
        *changes([f"train.optimizer={optimizer}", "train.steps=7"]),
    )
    tensors.same(run / "train_state.safetensors", whole / "train_state.safetensors")


def test_translation_resumes(train, synth, translation_recipe, tmp_path):
    more = ["train.accumulate=2", "train.precision=bfloat16"]
    whole = train(translation_recipe, tmp_path / "whole", *more, "train.steps=30")
    run = train(translation_recipe, tmp_path / "run", *more, "train.steps=13")
    synth("train", translation_recipe, "--run", run, "--resume", *changes([*more, "train.steps=30"]))
    tensors.same(run / "train_state.safetensors", whole / "train_state.safetensors")


def test_the_average_is_the_mean(train, synth, language_recipe, tmp_path):
    run = train(language_recipe, tmp_path / "run", "train.steps=8", "train.keep=4")
    assert sorted(file.name for file in (run / "checkpoints").iterdir()) == [
        f"step-{step:08}.safetensors" for step in [2, 4, 6, 8]
    ]
    done = synth("average", run, "--last", "3")
    assert done.stdout == f"{run}/averaged.safetensors\n" and "4, 6, 8" in done.stderr
    checkpoints = [tensors.read(run / "checkpoints" / f"step-{step:08}.safetensors") for step in [4, 6, 8]]
    averaged = tensors.read(run / "averaged.safetensors")
    assert set(averaged) == set(checkpoints[0])
    for name, array in averaged.items():
        mean = numpy.mean([c[name].astype("f8") for c in checkpoints], axis=0).astype("f4")
        numpy.testing.assert_array_max_ulp(array, mean, maxulp=1)
    synth("eval", run, "--weights", "averaged", "--data", "dev")


def test_the_average_of_all_that_were_kept(train, synth, language_recipe, tmp_path):
    run = train(language_recipe, tmp_path / "run", "train.steps=4", "train.keep=2")
    assert "2, 4" in synth("average", run).stderr


def test_the_average_of_more_than_there_are(mistake, language_run):
    mistake("average", language_run, "--last", "9", words=[language_run, "9", "train.keep"])
    assert not (language_run / "averaged.safetensors").exists()


def test_the_average_without_checkpoints(train, mistake, language_recipe, tmp_path):
    run = train(language_recipe, tmp_path / "run", "train.steps=1", "train.keep=0")
    mistake("average", run, words=[run, "no checkpoints", "train.keep"])


def test_starting_from_another_runs_weights(train, language_recipe, language_run, tmp_path):
    still = ["train.steps=1", "train.learning_rate=0"]
    run = train(language_recipe, tmp_path / "run", f"train.init_from={language_run}", "seed=5", *still)
    there, here = tensors.read(language_run / "model.safetensors"), tensors.read(run / "model.safetensors")
    assert list(here) == list(there)
    assert all(here[name].tobytes() == there[name].tobytes() for name in here)
    other = tensors.read(train(language_recipe, tmp_path / "other", "seed=5", *still) / "model.safetensors")
    assert any(other[name].tobytes() != there[name].tobytes() for name in other)


def test_starting_from_weights_of_another_shape(mistake, language_recipe, language_run, tmp_path):
    wrong = [f"train.init_from={language_run}", "model.width=32"]
    words = [f"{language_run}/model.safetensors", "another model"]
    mistake("train", language_recipe, "--run", tmp_path / "run", *changes(wrong), words=words)
    assert not (tmp_path / "run").exists()


def test_starting_from_no_run(mistake, language_recipe, tmp_path):
    wrong = changes([f"train.init_from={tmp_path}/nowhere"])
    mistake("train", language_recipe, "--run", tmp_path / "run", *wrong, words=[f"{tmp_path}/nowhere"])
    assert not (tmp_path / "run").exists()


CONTRADICTIONS = [
    (["model.width=32"], ["model.width (32, was 16)"]),
    (["seed=7"], ["seed (7, was 1)"]),
    (
        ["train.learning_rate=0.5", "model.attention=R"],
        ["train.learning_rate (0.5, was 0.01)", 'model.attention ("R", was "V")'],
    ),
    (["train.schedule=cosine", "train.steps=9"], ["train.schedule", "train.steps"]),
]


@pytest.mark.parametrize("settings, words", CONTRADICTIONS, ids=[" ".join(c[0]) for c in CONTRADICTIONS])
def test_resuming_with_another_recipe(mistake, language_recipe, language_run, settings, words):
    before = tensors.contents(language_run)
    mistake(
        "train",
        language_recipe,
        "--run",
        language_run,
        "--resume",
        *changes(settings),
        words=[language_run, *words],
    )
    assert tensors.contents(language_run) == before


def test_resuming_what_is_no_run(mistake, language_recipe, tmp_path):
    mistake("train", "--run", tmp_path / "none", "--resume", words=[tmp_path / "none", "nothing to resume"])
    mistake("train", language_recipe, "--run", tmp_path / "none", "--resume", words=["nothing to resume"])
    assert not (tmp_path / "none").exists()


def test_resuming_a_run_that_saved_nothing(train, mistake, language_recipe, tmp_path):
    run = train(language_recipe, tmp_path / "run", "train.steps=1")
    (run / "train_state.safetensors").unlink()
    before = tensors.contents(run)
    mistake("train", "--run", run, "--resume", words=[run, "no state", "delete"])
    assert tensors.contents(run) == before


def test_a_run_folder_that_exists(mistake, language_recipe, language_run):
    before = tensors.contents(language_run)
    mistake("train", language_recipe, "--run", language_run, words=[language_run, "exists", "--resume"])
    assert tensors.contents(language_run) == before


def test_a_file_where_the_run_should_be(mistake, language_recipe, tmp_path):
    (tmp_path / "run").write_text("mine\n")
    mistake("train", language_recipe, "--run", tmp_path / "run", words=["exists"])
    assert (tmp_path / "run").read_text() == "mine\n"


def test_an_empty_folder_becomes_the_run(train, language_recipe, tmp_path):
    train(language_recipe, tmp_path, "train.steps=1")
    assert (tmp_path / "config.toml").exists()
