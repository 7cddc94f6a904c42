"""One command at a time writes into the folder of a run; who comes second is told who is first."""

import json
import shutil
import signal

import pytest
import tensors
from import_fixtures import REFERENCES
from program import changes, wait_until
from runs import assert_one_error, assert_same_run, saved_step

LONG = ["train.steps=100000", "train.save_every=20", "train.eval_every=100000", "train.log_every=1000"]


@pytest.fixture
def training(started, language_recipe, tmp_path):
    """A run that is being trained and has saved, and the process that trains it."""
    run = tmp_path / "run"
    process = started("train", language_recipe, "--run", run, *changes(LONG))
    assert wait_until(process, (run / "train_state.safetensors").exists)
    return process, run


def test_a_second_training_is_refused(training, mistake, language_recipe):
    process, run = training
    first = [run, "in use", f"process {process.pid}", f"synth train {language_recipe} --run {run}", "kill"]
    mistake("train", language_recipe, "--run", run, *changes(LONG), words=first)
    mistake("train", "--run", run, "--resume", words=first)
    assert process.poll() is None


def test_so_are_other_commands_that_write_there(training, mistake, language_run, language_recipe):
    process, run = training
    first = [run, "in use", f"process {process.pid}", "synth train"]
    mistake("average", run, words=first)
    mistake("export", language_run, "--run", run, words=first)
    mistake("convert", language_run, "--attention", "FR", "--rank", "2", "--run", run, words=first)
    mistake("grow", language_run, "--max-length", "32", "--run", run, words=first)
    mistake("import", REFERENCES / "gpt2", "--run", run, words=first)
    mistake("compare", language_run, "--run", run, words=first)
    assert process.poll() is None


def test_reading_is_allowed(training, synth):
    process, run = training
    assert json.loads(synth("eval", run, "--weights", "last", "--data", "dev", "--json").stdout)["loss"] > 0
    assert synth("generate", run, "--tokens", "3").stdout
    assert "run" in synth("runs", run.parent).stdout
    assert process.poll() is None


def test_a_second_comparison_is_refused(started, mistake, language_recipe, tmp_path):
    folder = tmp_path / "all"
    command = ["compare", language_recipe, "--attention", "V,R", "--run", folder, *changes(LONG)]
    process = started(*command)
    assert wait_until(process, (folder / "V" / "train_state.safetensors").exists)
    mistake(*command, words=[folder, f"process {process.pid}", f"synth compare {language_recipe}"])
    mistake("train", "--run", folder / "V", "--resume", words=[folder / "V", "in use", "synth train"])
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert (folder / ".lock").exists() and (folder / "V" / ".lock").exists()
    step = saved_step(folder / "V")
    again = started(*command)  # what is left of a lock locks nothing
    assert wait_until(again, lambda: saved_step(folder / "V") > step)


def test_what_a_killed_command_leaves_refuses_nobody(training, synth):
    process, run = training
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert (run / ".lock").exists()
    step = saved_step(run)
    synth("train", "--run", run, "--resume", *changes([f"train.steps={step + 5}"]))
    assert saved_step(run) == step + 5
    assert not (run / ".lock").exists()


def test_a_run_that_was_not_finished_making_is_made_anew(
    train, synth, language_recipe, language_run, tmp_path
):
    """As a kill leaves it before config.toml is written."""
    for name in ["train", "export"]:
        (tmp_path / name).mkdir()
        for file in [".lock", "run.json.tmp123"]:
            (tmp_path / name / file).write_text("1 synth")
        shutil.copy(language_run / "tokenizer.model", tmp_path / name)
    assert_same_run(train(language_recipe, tmp_path / "train"), language_run)
    synth("export", language_run, "--run", tmp_path / "export")
    assert not list(tmp_path.rglob("*.tmp123")) and not list(tmp_path.rglob(".lock"))


def test_what_is_not_ours_is_never_deleted(mistake, language_recipe, tmp_path):
    for file in [".lock", "tokenizer.model", "notes.txt"]:
        (tmp_path / file).write_text("mine")
    mistake("train", language_recipe, "--run", tmp_path, words=[tmp_path, "exists"])
    assert (tmp_path / "notes.txt").read_text() == (tmp_path / "tokenizer.model").read_text() == "mine"


def test_a_refused_command_leaves_no_folder(mistake, language_run, tmp_path):
    mistake("compare", language_run, "--attention", "V", "--run", tmp_path / "all", words=["--attention"])
    assert not (tmp_path / "all").exists()


def test_a_deleted_run(training):
    process, run = training
    process.send_signal(signal.SIGSTOP)
    shutil.rmtree(run)
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=60)
    assert_one_error(process.returncode, err)
    assert f"{run} was deleted or replaced" in err
    assert not run.exists()


def test_a_deleted_run_is_not_written_into_the_one_in_its_place(training, train, language_recipe):
    process, run = training
    process.send_signal(signal.SIGSTOP)
    shutil.rmtree(run)
    train(language_recipe, run)
    before = tensors.contents(run)
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=60)
    assert_one_error(process.returncode, err)
    assert f"{run} was deleted or replaced" in err
    assert tensors.contents(run) == before
