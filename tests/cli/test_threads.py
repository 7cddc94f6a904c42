"""--threads: every command has it, numbers out of range are refused, and what computes uses it."""

import json
import os
import re
import subprocess
import sys

import pytest
from program import changes

# Whoever sets OMP_NUM_THREADS has chosen the default.
default_chosen = pytest.mark.skipif("OMP_NUM_THREADS" in os.environ, reason="OMP_NUM_THREADS is set")

MISTAKES = ["0", "-1", "100000", "two"]
SMALL_LAYER = ["--width", "16", "--heads", "2", "--max-length", "8", "--batch", "1", "--repeats", "1"]


def commands(synth, *above):
    """All commands that --help lists; where a command has subcommands, those instead."""
    help = synth(*above, "--help").stdout
    names = re.findall(r"^  (\S+)", help.partition("\nSubcommands:\n")[2], re.MULTILINE)
    return [command for name in names for command in commands(synth, *above, name)] or [above]


def threads_of(run):
    """The number of threads that a run was trained with."""
    return json.loads((run / "run.json").read_text())["threads"]


def threads_of_bench(synth, *options, **settings):
    done = synth("bench", "attention", "--attention", "V", *SMALL_LAYER, "--json", *options, **settings)
    return json.loads(done.stdout)["threads"]


def test_every_command_has_it(synth):
    found = commands(synth)
    expected = ["train", "compare", "translate", "params", "variants", "score"]
    assert {*((name,) for name in expected), ("bench", "step"), ("bench", "decode")} <= set(found)
    for command in found:
        help = synth(*command, "--help").stdout
        assert re.search(r"^  --threads ", help, re.MULTILINE), command


@pytest.mark.parametrize("threads", MISTAKES)
def test_mistakes_of_train(mistake, language_recipe, tmp_path, threads):
    run = tmp_path / "run"
    mistake("train", language_recipe, "--run", run, "--threads", threads, words=["--threads", threads])
    assert not run.exists()


@pytest.mark.parametrize("threads, word", [("-1", "-1"), ("100000", "1024"), ("two", "whole number")])
def test_mistakes_of_the_recipe_key(mistake, language_recipe, tmp_path, threads, word):
    change = changes([f"train.threads={threads}"])
    mistake("train", language_recipe, "--run", tmp_path / "run", *change, words=["train.threads", word])
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("threads", MISTAKES)
def test_mistakes_of_translate(mistake, tmp_path, threads):
    # The number is checked first: the run, which does not exist, is not opened.
    mistake("translate", tmp_path / "none", "--threads", threads, words=["--threads", threads])


@pytest.mark.parametrize("threads", MISTAKES)
def test_mistakes_of_params(mistake, threads):
    mistake("params", "--attention", "V", "--threads", threads, words=["--threads", threads])


@pytest.mark.parametrize("threads", MISTAKES)
@pytest.mark.parametrize("what", ["attention", "step", "decode"])
def test_mistakes_of_bench(mistake, what, threads):
    mistake("bench", what, "--threads", threads, words=["--threads", threads])


def test_the_range_is_named(mistake):
    for threads in ["1025", "99999999999999999999"]:
        mistake("params", "--attention", "V", "--threads", threads, words=[threads, "from 1 to 1024"])


def test_params(synth):
    params = ["params", "--attention", "V"]
    assert synth(*params, "--threads", "1").stdout == synth(*params).stdout


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_bench_uses_them(synth, threads):
    assert threads_of_bench(synth, "--threads", threads) == threads


@default_chosen
def test_the_default_is_the_cores_of_the_process(synth):
    core = min(os.sched_getaffinity(0))
    assert threads_of_bench(synth, preexec_fn=lambda: os.sched_setaffinity(0, {core})) == 1


@pytest.mark.parametrize(
    "options",
    [["--threads", "3"], changes(["train.threads=3"]), ["--threads", "3", *changes(["train.threads=3"])]],
    ids=["--threads", "--set", "both"],
)
def test_train_takes_either_form(synth, language_recipe, tmp_path, options):
    run = tmp_path / "run"
    synth("train", language_recipe, "--run", run, *options)
    assert threads_of(run) == 3
    assert "\nthreads = 3\n" in (run / "config.toml").read_text()


@default_chosen
def test_zero_in_the_recipe_is_the_default(train, language_recipe, tmp_path):
    run = train(language_recipe, tmp_path / "run", "train.threads=0")
    assert 1 <= threads_of(run) <= len(os.sched_getaffinity(0))


@pytest.mark.parametrize("command", [["train"], ["compare", "--attention", "V"]], ids=["train", "compare"])
def test_two_numbers_contradict_each_other(mistake, language_recipe, tmp_path, command):
    options = ["--threads", "2", *changes(["train.threads=1"])]
    words = ["--threads 2", "--set train.threads=1"]
    mistake(*command, language_recipe, "--run", tmp_path / "run", *options, words=words)
    assert not (tmp_path / "run").exists()


def test_compare_trains_with_them(synth, language_recipe, tmp_path):
    folder = tmp_path / "all"
    synth("compare", language_recipe, "--attention", "V,R", "--run", folder, "--threads", "3")
    assert [threads_of(folder / name) for name in ("V", "R")] == [3, 3]
    # Runs that were trained already are compared with any number of threads.
    synth("compare", folder / "V", folder / "R", "--run", tmp_path / "again", "--threads", "1")


@pytest.mark.parametrize("threads", ["1", "2"])
def test_other_processes_on_the_cores_do_not_change_the_weights(
    environment, language_recipe, tmp_path, threads
):
    """Alone, waiting threads spin; beside others they sleep (OMP_WAIT_POLICY unset: the program decides)."""
    own = {name: value for name, value in environment.items() if name != "OMP_WAIT_POLICY"}
    command = [os.environ["SYNTH"], "train", language_recipe, "--threads", threads]
    command += changes(["train.steps=60", "train.eval_every=60", "train.save_every=60"])

    def weights(name):
        run = tmp_path / name
        subprocess.run([*command, "--run", run], env=own, check=True, capture_output=True, timeout=180)
        return (run / "model.safetensors").read_bytes()

    alone = weights("alone")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    try:
        beside = weights("beside")
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert alone == beside
