"""Several processes train together: the weights and scores of one, and faults that end all of them."""

import datetime
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest
import tensors
import torch.distributed
from program import changes, children_of, metrics, wait_until
from runs import saved_step
from together import (
    SMALL,
    TIMEOUT,
    close,
    ends,
    free_port,
    last_line,
    together,
    workers_of,
)

# Everything that might divide its work or its parameters in another way. A causal table's first row has one
# column, so its gradient is nothing but rounding, which Adam with a small epsilon makes a whole step of.
KINDS = {
    "mixture": ["model.attention=R+V", "model.layers=2", "model.attention_dropout=0.1", "train.epsilon=1e-6"],
    "baseline, adafactor": ["model.attention=dynamic-conv", "train.optimizer=adafactor"],
    "universal": ["model.attention=FD", "model.recurrent_depth=2", "train.optimizer=adamw"],
}


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    """A recipe of a classification."""
    folder = tmp_path_factory.mktemp("labelled")
    draw = random.Random(1)
    for split, lines in [("train", 300), ("dev", 60)]:
        rows = []
        for _ in range(lines):
            label = draw.choice(["red", "blue"])
            words = [draw.choice([label[0], "x", "y"]) for _ in range(draw.randint(2, 8))]
            rows.append(f"{label}\t{' '.join(words)}\n")
        (folder / f"{split}.tsv").write_text("".join(rows))
    recipe = folder / "labels.toml"
    recipe.write_text(
        f"""
task = "classification"
[data]
root = "{folder}"
train = "train.tsv"
dev = "dev.tsv"
tokenizer = "words"
vocabulary = 0
[model]
width = 16
heads = 2
layers = 1
feed_forward = 32
max_length = 16
"""
    )
    return recipe


@pytest.fixture(scope="module")
def two(train_together, language_recipe, tmp_path_factory):
    """Fifty steps of two processes."""
    return train_together(
        language_recipe, tmp_path_factory.mktemp("two") / "run", 2, "train.steps=50", *SMALL
    )


def test_two_are_one_with_twice_the_batches(train, language_recipe, two, tmp_path):
    one = train(language_recipe, tmp_path / "one", "train.steps=50", *SMALL, "train.accumulate=2")
    close(two, one)
    # The log has the sums over both.
    for ours, theirs in zip(metrics(two, "train"), metrics(one, "train"), strict=True):
        assert ours["loss"] == pytest.approx(theirs["loss"], rel=1e-5)
    for ours, theirs in zip(metrics(two, "dev"), metrics(one, "dev"), strict=True):
        assert ours["tokens"] == theirs["tokens"]
        assert ours["loss"] == pytest.approx(theirs["loss"], rel=1e-5)
    assert [line["step"] for line in metrics(two, "dev")] == [25, 50]


def test_the_same_command_gives_the_same_bits(language_recipe, two, tmp_path, train_together):
    again = train_together(language_recipe, tmp_path / "again", 2, "train.steps=50", *SMALL)
    tensors.same(again / "train_state.safetensors", two / "train_state.safetensors")
    assert metrics(again, "dev") == metrics(two, "dev")


@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_of_models(train, language_recipe, tmp_path, kind, train_together):
    settings = [*SMALL, "train.steps=20", *KINDS[kind]]
    one = train(language_recipe, tmp_path / "one", *settings, "train.accumulate=6")
    three = train_together(language_recipe, tmp_path / "three", 3, *settings, "train.accumulate=2")
    close(three, one)


def test_classification_and_span_corruption(train, language_recipe, labelled, tmp_path, train_together):
    for name, recipe, settings in [
        ("labels", labelled, ["train.steps=20"]),
        ("spans", language_recipe, ["task=span-corruption", "train.steps=10", "model.max_length=64"]),
    ]:
        one = train(recipe, tmp_path / f"{name}-one", *SMALL, *settings, "train.accumulate=2")
        both = train_together(recipe, tmp_path / f"{name}-two", 2, *SMALL, *settings)
        close(both, one)


def test_translation_validates_by_texts(train, translation_recipe, tmp_path, train_together):
    settings = [*SMALL, "train.steps=4", "train.eval_every=2", "train.watch=bleu"]
    one = train(translation_recipe, tmp_path / "one", *settings, "train.accumulate=2")
    both = train_together(translation_recipe, tmp_path / "two", 2, *settings)
    close(both, one)
    assert [line["chrf"] for line in metrics(both, "dev")] == [line["chrf"] for line in metrics(one, "dev")]


@pytest.fixture(scope="module")
def translating(train, translation_recipe, tmp_path_factory):
    """A translation model of three steps: it writes much, and none of it is right."""
    return train(translation_recipe, tmp_path_factory.mktemp("runs") / "translating")


def test_evaluation_gives_exactly_the_same_scores(synth, environment, translating):
    command = ["eval", translating, "--json", "--threads", "1", "--beam", "2"]
    alone = synth(*command).stdout
    assert json.loads(alone)["chrf"] > 0
    assert synth(*command, "--workers", "3").stdout == alone
    processes = together(environment, 3, *command)
    outputs = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert outputs == [alone, "", ""]


def test_workers_keep_the_order(synth, translating, numbers):
    lines = (numbers / "test.en").read_text()
    one = synth("translate", translating, "--batch-tokens", "64", input=lines)
    many = synth("translate", translating, "--batch-tokens", "64", "--workers", "4", input=lines)
    assert many.stdout == one.stdout and one.stdout.count("\n") == lines.count("\n")


def test_classify_with_workers(train, synth, labelled, tmp_path):
    run = train(labelled, tmp_path / "run", *SMALL, "train.steps=5")
    lines = "".join(f"{'r x ' * (1 + n % 7)}\n" for n in range(50))
    one = synth("classify", run, "--json", "--batch-tokens", "32", input=lines).stdout
    assert (
        synth("classify", run, "--json", "--batch-tokens", "32", "--workers", "3", input=lines).stdout == one
    )


def test_resumes_with_another_number_of_processes(synth, language_recipe, two, tmp_path, train_together):
    run = tmp_path / "run"
    shutil.copytree(two, run)
    longer = [*SMALL, "train.steps=60"]
    synth("train", language_recipe, "--run", run, "--resume", *changes([*longer, "train.accumulate=2"]))
    whole = train_together(language_recipe, tmp_path / "whole", 2, *longer)
    close(run, whole)
    assert [line["step"] for line in metrics(run, "dev")] == [line["step"] for line in metrics(whole, "dev")]


@pytest.mark.parametrize(
    "count,words", [(1, ["2 batches", "train.accumulate=2"]), (3, ["divides 2", "3 processes"])]
)
def test_another_step_is_refused(synth, language_recipe, two, count, words):
    before = tensors.contents(two)
    settings = changes([*SMALL, "train.steps=60"])
    done = synth(
        "train", language_recipe, "--run", two, *settings, "--resume", "--processes", str(count), ok=False
    )
    assert done.returncode == 2
    for word in words:
        assert word in last_line(done.stderr)
    assert tensors.contents(two) == before


@pytest.mark.parametrize("rank", [0, 1])
def test_a_killed_process_ends_all(environment, language_recipe, tmp_path, rank):
    run = tmp_path / "run"
    long = changes([*SMALL, "train.steps=1000000", "train.save_every=10"])
    processes = together(environment, 3, "train", language_recipe, "--run", run, "--timeout", TIMEOUT, *long)
    assert wait_until(processes[0], lambda: saved_step(run) > 0)
    processes[rank].kill()
    begin = time.monotonic()
    others = ends([process for process in processes if process is not processes[rank]])
    assert time.monotonic() - begin < float(TIMEOUT) + 4  # a slow machine
    processes[rank].communicate()
    for status, errors in others:
        assert status == 1
        assert f"rank {rank}" in last_line(errors) and "--resume" in last_line(errors)
    assert saved_step(run) > 0


@pytest.mark.parametrize("rank", [0, 1])
def test_a_stopped_process_ends_all(environment, language_recipe, tmp_path, rank):
    run = tmp_path / "run"
    long = changes([*SMALL, "train.steps=1000000", "train.save_every=10"])
    processes = together(environment, 2, "train", language_recipe, "--run", run, "--timeout", TIMEOUT, *long)
    assert wait_until(processes[0], lambda: saved_step(run) > 0)
    processes[rank].send_signal(signal.SIGSTOP)
    begin = time.monotonic()
    ((status, errors),) = ends([processes[1 - rank]])
    assert time.monotonic() - begin < float(TIMEOUT) + 4
    processes[rank].kill()
    processes[rank].communicate()
    assert status == 1
    assert f"rank {rank} has been silent" in last_line(errors)


def test_a_port_in_use(environment, language_recipe, tmp_path):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        processes = together(
            environment, 2, "train", language_recipe, "--run", tmp_path / "run", "--timeout", "3", port=port
        )
        (status, errors), (other_status, other_errors) = ends(processes)
    assert (status, other_status) == (1, 1)
    assert f"port {port}" in last_line(errors) and "MASTER_PORT" in last_line(errors)
    assert "rank 0" in last_line(other_errors)
    assert not (tmp_path / "run").exists()


def test_another_number_of_processes(environment, language_recipe, tmp_path):
    command = ["train", language_recipe, "--run", tmp_path / "run", "--timeout", "5"]
    processes = together(environment, 2, *command, variables={1: {"WORLD_SIZE": 3}})
    for status, errors in ends(processes):
        assert status == 1
        assert "rank" in last_line(errors) and "WORLD_SIZE" in last_line(errors)
    assert not (tmp_path / "run").exists()


def test_another_build(environment, language_recipe, tmp_path):
    """Rank 1 is played by this test: it says of itself what another build would say."""
    port = free_port()
    command = ["train", language_recipe, "--run", tmp_path / "run", "--timeout", TIMEOUT]
    processes = together(environment, 2, *command, ranks=[0], port=port)
    store = torch.distributed.TCPStore(
        "127.0.0.1", port, is_master=False, timeout=datetime.timedelta(seconds=60), wait_for_workers=False
    )
    store.add("came/1", 1)
    store.set("note/1", "+0")
    store.set("hello/1", "2 synth of another commit")
    ((status, errors),) = ends(processes)
    assert status == 1
    assert "rank 1 is another build (synth of another commit)" in last_line(errors)
    assert not (tmp_path / "run").exists()


def test_a_process_that_never_comes(environment, language_recipe, tmp_path):
    processes = together(
        environment, 2, "train", language_recipe, "--run", tmp_path / "run", "--timeout", "2", ranks=[0]
    )
    ((status, errors),) = ends(processes)
    assert status == 1
    assert "rank 1 did not come within 2 s" in last_line(errors)


def test_other_recipes_and_other_data(environment, language_recipe, text, tmp_path):
    def with_own(setting):
        def words(rank):
            own = changes([setting]) if rank == 1 else []
            return ["train", language_recipe, "--run", tmp_path / "run", "--timeout", TIMEOUT, *own]

        return words

    other = tmp_path / "other"
    shutil.copytree(text, other)
    with open(other / "train.txt", "a", encoding="utf-8") as file:
        file.write("one line more\n")
    for setting, word in [("seed=7", "seed (7, rank 0 has 1)"), (f"data.root={other}", "other data")]:
        for status, errors in ends(together(environment, 2, with_own(setting))):
            assert status == 1
            assert "rank 1" in last_line(errors) and word in last_line(errors)
        assert not (tmp_path / "run").exists()


def test_a_mistake_of_one_is_told_to_all(environment, language_recipe, tmp_path):
    def words(rank):
        own = ["--set", f"data.root={tmp_path}"] if rank == 1 else []
        return ["train", language_recipe, "--run", tmp_path / "run", "--timeout", TIMEOUT, *own]

    (status, errors), (own_status, own_errors) = ends(together(environment, 2, words))
    assert (status, own_status) == (1, 2)
    assert "rank 1 has failed" in last_line(errors) and "train.txt" in last_line(errors)
    assert "train.txt" in last_line(own_errors)


def test_variables_that_are_missing(environment, language_recipe, tmp_path):
    for missing in ["RANK", "MASTER_ADDR", "MASTER_PORT"]:
        command = ["train", language_recipe, "--run", tmp_path / "run"]
        ((status, errors),) = ends(
            together(environment, 2, *command, ranks=[0], variables={0: {missing: ""}})
        )
        assert status == 2
        assert missing in last_line(errors)


def test_the_launcher_stops_all_when_one_is_killed(started, language_recipe, tmp_path):
    run = tmp_path / "run"
    process = started("train", language_recipe, "--run", run, "--processes", "2", "--timeout", TIMEOUT,
                      *changes([*SMALL, "train.steps=1000000", "train.save_every=10"]))  # fmt: skip
    assert wait_until(process, lambda: saved_step(run) > 0)
    children = children_of(process)
    assert len(children) == 2
    os.kill(children[1], signal.SIGKILL)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "rank 1" in last_line(errors)
    assert not any(os.path.exists(f"/proc/{child}") for child in children)


def test_nothing_outlives_the_launcher(started, language_recipe, tmp_path):
    run = tmp_path / "run"
    process = started("train", language_recipe, "--run", run, "--processes", "3",
                      *changes([*SMALL, "train.steps=1000000", "train.save_every=10"]))  # fmt: skip
    assert wait_until(process, lambda: saved_step(run) > 0)
    children = children_of(process)
    process.kill()
    process.wait()
    end = time.monotonic() + 10
    while any(os.path.exists(f"/proc/{child}") for child in children):
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_the_launcher_saves(started, synth, language_recipe, tmp_path, number):
    run = tmp_path / "run"
    settings = changes([*SMALL, "train.steps=1000000", "train.save_every=100000"])
    process = started("train", language_recipe, "--run", run, "--processes", "2", *settings)
    assert wait_until(process, lambda: (run / "metrics.jsonl").exists() and metrics(run, "train"))
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "stopped at step" in last_line(errors)
    assert saved_step(run) > 0


def test_a_signal_to_the_whole_group_saves(environment, language_recipe, tmp_path):
    """As `timeout` does it: one request, though it comes to each process more than once."""
    run = tmp_path / "run"
    settings = changes([*SMALL, "train.steps=1000000", "train.save_every=100000"])
    command = [os.environ["SYNTH"], "train", language_recipe, "--run", run, "--processes", "2", *settings]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                          start_new_session=True) as process:  # fmt: skip
        try:
            assert wait_until(process, lambda: (run / "metrics.jsonl").exists() and metrics(run, "train"))
            os.killpg(process.pid, signal.SIGTERM)
            _, errors = process.communicate(timeout=60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 1
    assert "stopped at step" in last_line(errors)
    assert saved_step(run) > 0


def test_a_comparison_passes_it_on_to_all(started, language_recipe, tmp_path):
    folder = tmp_path / "all"
    settings = changes([*SMALL, "train.steps=1000000", "train.save_every=100000"])
    process = started("compare", language_recipe, "--attention", "V", "--run", folder, "--processes", "2",
                      *settings)  # fmt: skip
    run = folder / "V"
    assert wait_until(process, lambda: (run / "metrics.jsonl").exists() and metrics(run, "train"))
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "V stopped at step" in last_line(errors)
    assert saved_step(run) > 0


def test_killed_at_random_moments(started, language_recipe, tmp_path, train_together):
    """Some kills of random ranks; the weights are those of a run that nothing happened to."""
    settings = [*SMALL, "train.steps=120", "train.save_every=6"]
    whole = train_together(language_recipe, tmp_path / "whole", 2, *settings)
    draw, run, kills = random.Random(5), tmp_path / "run", 0
    for _ in range(20):
        resume = ["--resume"] if saved_step(run) else []
        if not resume:
            shutil.rmtree(run, ignore_errors=True)
        process = started("train", language_recipe, "--run", run, "--processes", "2", "--timeout", TIMEOUT,
                          *changes(settings), *resume)  # fmt: skip
        before = saved_step(run)
        if kills < 4 and wait_until(process, lambda least=before: saved_step(run) > least):
            time.sleep(draw.uniform(0, 0.1))
            children = children_of(process)
            if children:
                os.kill(draw.choice(children), signal.SIGKILL)
                kills += 1
        process.communicate(timeout=60)
        if process.returncode == 0:
            break
    assert kills >= 2 and process.returncode == 0
    tensors.same(run / "train_state.safetensors", whole / "train_state.safetensors")


def test_torchrun_starts_them_again(environment, language_recipe, train_together, tmp_path):
    settings = [*SMALL, "train.steps=150", "train.save_every=10"]
    whole = train_together(language_recipe, tmp_path / "whole", 2, *settings)
    run = tmp_path / "run"
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--max-restarts", "2",
               "--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0", "--no-python", "--",
               os.environ["SYNTH"], "train", str(language_recipe), "--run", str(run), "--timeout", TIMEOUT,
               *changes(settings)]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=environment, start_new_session=True) as process:  # fmt: skip
        try:
            assert wait_until(process, lambda: saved_step(run) > 0, seconds=90)
            killed = workers_of(run)[1]
            os.kill(killed, signal.SIGKILL)
            output, _ = process.communicate(timeout=120)
        finally:
            for worker in workers_of(run).values():
                os.kill(worker, signal.SIGKILL)
            process.kill()
    assert process.returncode == 0, output
    tensors.same(run / "train_state.safetensors", whole / "train_state.safetensors")
