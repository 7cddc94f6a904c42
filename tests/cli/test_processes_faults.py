"""Several processes train together: faults, wrong settings and signals end all of them; restarts go on."""

import datetime
import fcntl
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time

import numpy
import pytest
import tensors
import torch.distributed
from program import changes, children_of, metrics, wait_until
from runs import saved_step
from together import SMALL, TIMEOUT, ends, free_port, has_open, last_line, together, workers_of


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
def test_a_stopped_process_ends_all(environment, synth, language_recipe, tmp_path, rank):
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
    # What it has saved can be used.
    goal = saved_step(run) + 2
    synth("train", "--run", run, "--resume", *changes([f"train.steps={goal}", "train.accumulate=2"]))
    assert saved_step(run) == goal


@pytest.mark.parametrize("rank", [0, 1])
def test_a_stopped_process_ends_one_that_waits_for_a_lock(environment, language_recipe, tmp_path, rank):
    """As of a process that was stopped while it tokenized; here the test has the lock, so that both wait."""
    cache = tmp_path / "cache"
    short = changes([*SMALL, "train.steps=1", f"data.cache={cache}"])
    command = ["train", language_recipe, "--timeout", TIMEOUT, *short, "--run"]
    assert [status for status, _ in ends(together(environment, 2, *command, tmp_path / "first"))] == [0, 0]
    stores = [index.parent for index in cache.glob("*/index.json")]
    assert len(stores) == 2
    locks = [open(f"{store}.lock", "w") for store in stores]
    for store, lock in zip(stores, locks, strict=True):
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(store)
    processes = together(environment, 2, *command, tmp_path / "run")
    for process in processes:
        assert wait_until(process, lambda pid=process.pid: has_open(pid, ".lock"))
    processes[rank].send_signal(signal.SIGSTOP)
    begin = time.monotonic()
    ((status, errors),) = ends([processes[1 - rank]])
    assert time.monotonic() - begin < float(TIMEOUT) + 4
    for lock in locks:
        lock.close()
    processes[rank].kill()
    processes[rank].communicate()
    assert status == 1
    assert f"rank {rank} has been silent" in last_line(errors)
    assert not (tmp_path / "run").exists()


def test_a_killed_process_ends_a_long_validation(environment, language_recipe, text, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    shutil.copy(text / "train.txt", data)
    (data / "dev.txt").write_text((text / "train.txt").read_text() * 100)
    run = tmp_path / "run"
    long = [*SMALL, f"data.root={data}", "train.steps=2", "train.eval_every=1", "train.log_every=1",
            "model.width=256", "model.layers=4"]  # fmt: skip
    command = ["train", language_recipe, "--run", run, "--timeout", TIMEOUT, *changes(long)]
    processes = together(environment, 2, *command)
    assert wait_until(processes[0], lambda: (run / "metrics.jsonl").exists() and metrics(run, "train"))
    time.sleep(0.5)  # into the validation
    processes[1].kill()
    begin = time.monotonic()
    ((status, errors),) = ends([processes[0]], seconds=300)
    assert time.monotonic() - begin < float(TIMEOUT) + 4
    processes[1].communicate()
    assert status == 1
    assert "rank 1 has been silent" in last_line(errors) and "all 2 processes" in last_line(errors)
    assert metrics(run, "dev") == []


def test_a_loss_that_is_not_finite_in_one_process(train, environment, labelled, tmp_path):
    """One example is longer than all others, and the weights of the positions that it alone has are NaN."""
    settings = [*SMALL, "model.positions=learned", "train.steps=1"]
    first = train(labelled, tmp_path / "first", *settings)
    weights = first / "model.safetensors"
    arrays = {name: array.copy() for name, array in tensors.read(weights).items()}
    (positions,) = [name for name in arrays if arrays[name].shape == (16, 16) and "position" in name]
    arrays[positions][10:] = numpy.nan
    said = tensors.metadata(weights)
    said.pop("crc32c", None)
    tensors.write(weights, arrays, said)
    data = shutil.copytree(labelled.parent, tmp_path / "data")
    with open(data / "train.tsv", "a", encoding="utf-8") as file:
        file.write("red\t" + "r " * 11 + "r\n")
    command = ["train", labelled, "--run", tmp_path / "run", "--init-from", first, "--timeout", TIMEOUT]
    command += changes([*settings, f"data.root={data}", "train.steps=1000", "train.eval_every=1000"])
    found = set()
    for status, errors in ends(together(environment, 2, *command)):
        assert status == 1
        found.add(last_line(errors))
    (line,) = found
    assert line.startswith(("synth: error: rank 0: step ", "synth: error: rank 1: step "))
    assert "the loss is not a finite number" in line and "train.tsv:" in line


def test_two_processes_with_the_same_rank(environment, language_recipe, tmp_path):
    command = ["train", language_recipe, "--run", tmp_path / "run", "--timeout", TIMEOUT]
    results = ends(together(environment, 3, *command, variables={2: {"RANK": 1}}))
    assert [status for status, _ in results] == [1, 1, 1]
    for _, errors in results:
        assert "two processes were started with RANK=1" in last_line(errors)
    assert not (tmp_path / "run").exists()


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


def test_an_address_of_rank_0_that_nobody_knows(environment, language_recipe, tmp_path):
    command = ["train", language_recipe, "--run", tmp_path / "run", "--timeout", "2"]
    unknown = {"MASTER_ADDR": "nowhere.invalid"}
    (status, errors), (other_status, other_errors) = ends(
        together(environment, 2, *command, variables={0: unknown, 1: unknown})
    )
    assert (status, other_status) == (1, 1)
    assert "rank 0 cannot reach its own MASTER_ADDR nowhere.invalid" in last_line(errors)
    assert "rank 1 found no rank 0" in last_line(other_errors)


@pytest.mark.parametrize("rank", [0, 1])
def test_an_interface_that_is_none(environment, language_recipe, tmp_path, rank):
    command = ["train", language_recipe, "--run", tmp_path / "run", "--timeout", TIMEOUT]
    wrong = {rank: {"GLOO_SOCKET_IFNAME": "eth9"}}
    results = ends(together(environment, 2, *command, variables=wrong))
    assert results[rank][0] == 2 and results[1 - rank][0] == 1
    for _, errors in results:
        assert "GLOO_SOCKET_IFNAME is 'eth9'" in last_line(errors)
    assert f"rank {rank} has failed" in last_line(results[1 - rank][1])


def test_a_mistake_of_one_is_told_to_all(environment, language_recipe, tmp_path):
    def words(rank):
        own = ["--set", f"data.root={tmp_path}"] if rank == 1 else []
        return ["train", language_recipe, "--run", tmp_path / "run", "--timeout", TIMEOUT, *own]

    (status, errors), (own_status, own_errors) = ends(together(environment, 2, words))
    assert (status, own_status) == (1, 2)
    assert "rank 1 has failed" in last_line(errors) and "train.txt" in last_line(errors)
    assert "train.txt" in last_line(own_errors)


def test_variables_that_are_missing(environment, language_recipe, tmp_path):
    for missing in ["RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"]:
        command = ["train", language_recipe, "--run", tmp_path / "run"]
        ((status, errors),) = ends(
            together(environment, 2, *command, ranks=[1], variables={1: {missing: ""}})
        )
        assert status == 2
        assert missing in last_line(errors)
    assert not (tmp_path / "run").exists()


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


def test_a_signal_to_one_that_was_started_by_hand(environment, language_recipe, tmp_path):
    """No single command goes on with it: the line says how many are to be started."""
    run = tmp_path / "run"
    settings = changes([*SMALL, "train.steps=1000000", "train.save_every=100000"])
    processes = together(environment, 2, "train", language_recipe, "--run", run, *settings)
    assert wait_until(processes[0], lambda: (run / "metrics.jsonl").exists() and metrics(run, "train"))
    processes[1].send_signal(signal.SIGTERM)
    (status, errors), (other_status, _) = ends(processes)
    assert (status, other_status) == (1, 1)
    assert last_line(errors) == (
        f"synth: error: stopped at step {saved_step(run)}, saved; start all 2 processes again with the same "
        "command and --resume"
    )


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


def by_torchrun(environment, *words, restarts=0):
    """Starts two processes by torchrun."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--max-restarts",
               restarts, "--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0", "--no-python", "--",
               os.environ["SYNTH"], *words, "--timeout", TIMEOUT]  # fmt: skip
    return subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env=environment, start_new_session=True)  # fmt: skip


def test_torchrun_starts_them_again(environment, language_recipe, train_together, tmp_path):
    settings = [*SMALL, "train.steps=150", "train.save_every=10"]
    whole = train_together(language_recipe, tmp_path / "whole", 2, *settings)
    run = tmp_path / "run"
    words = ["train", language_recipe, "--run", run, *changes(settings)]
    with by_torchrun(environment, *words, restarts=2) as process:
        try:
            assert wait_until(process, lambda: saved_step(run) > 0, seconds=90)
            made = (run / "run.json").stat().st_mtime_ns
            killed = workers_of(run)[1]
            os.kill(killed, signal.SIGKILL)
            output, _ = process.communicate(timeout=120)
        finally:
            for worker in workers_of(run).values():
                os.kill(worker, signal.SIGKILL)
            process.kill()
    assert process.returncode == 0, output
    tensors.same(run / "train_state.safetensors", whole / "train_state.safetensors")
    # It was resumed and not begun anew: this file is written once.
    assert (run / "run.json").stat().st_mtime_ns == made


def test_a_torchrun_that_was_killed_is_named(environment, language_recipe, tmp_path):
    run = tmp_path / "run"
    long = changes([*SMALL, "train.steps=1000000", "train.save_every=10"])
    with by_torchrun(environment, "train", language_recipe, "--run", run, *long) as process:
        try:
            assert wait_until(process, lambda: saved_step(run) > 0, seconds=90)
            process.kill()
            output, _ = process.communicate(timeout=60)
        finally:
            for worker in workers_of(run).values():
                os.kill(worker, signal.SIGKILL)
            process.kill()
    said = [line for line in output.splitlines() if line.startswith("synth: error: ")]
    assert len(said) == 2, output
    assert all("torchrun's store at" in line and "no longer answers" in line for line in said), output


def restarted(environment, *words):
    """Status and standard error of two processes that are told that torchrun has started them again."""
    again = {"TORCHELASTIC_RESTART_COUNT": 1}
    return ends(together(environment, 2, *words, variables={0: again, 1: again}))


def test_a_restart_leaves_the_run_of_another_command_alone(environment, synth, language_run, language_recipe,
                                                           tmp_path):  # fmt: skip
    converted = tmp_path / "converted"
    synth("convert", language_run, "--attention", "R+V", "--run", converted)
    trained = shutil.copytree(language_run, tmp_path / "trained")
    for run in [converted, trained]:
        before = tensors.contents(run)
        (status, errors), (other_status, _) = restarted(environment, "train", language_recipe, "--run", run)
        assert (status, other_status) == (2, 1)
        assert f"{run} exists already" in last_line(errors)
        assert tensors.contents(run) == before


def test_a_restart_makes_a_run_anew_that_has_saved_nothing(environment, language_recipe, tmp_path):
    run = tmp_path / "run"
    words = ["train", language_recipe, "--run", run, *changes([*SMALL, "train.steps=25"])]
    assert [status for status, _ in ends(together(environment, 2, *words))] == [0, 0]
    whole = shutil.copytree(run, tmp_path / "whole")
    (run / "train_state.safetensors").unlink()
    # Another that is at work there may save at any moment.
    with open(run / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = tensors.contents(run)
        (status, errors), _ = restarted(environment, *words)
        assert status == 2 and "is in use" in last_line(errors)
        assert tensors.contents(run) == before
    assert [status for status, _ in restarted(environment, *words)] == [0, 0]
    tensors.same(run / "train_state.safetensors", whole / "train_state.safetensors")
