"""tools/demo.py: what it starts ends with it, whichever way it ends, and training saves."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.request

import pytest
import tensors
from program import children_of, wait_until

DEMO = pathlib.Path(__file__).resolve().parents[2] / "tools" / "demo.py"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_its_training_ends_with_it(environment, tmp_path, number):
    command = [sys.executable, DEMO, os.environ["SYNTH"], tmp_path, "--steps", "100000", "--attention", "V"]
    log = (tmp_path / "log").open("w")
    process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    run = tmp_path / "shakespeare" / "V"
    try:
        assert wait_until(process, (run / "metrics.jsonl").exists)
        process.send_signal(number)
        process.wait(timeout=60)
    finally:
        process.kill()
    end = time.monotonic() + 60
    while "saved" not in (tmp_path / "log").read_text() and time.monotonic() < end:
        time.sleep(0.05)
    step = tensors.metadata(run / "train_state.safetensors")["step"]
    assert f"V stopped at step {step}, saved" in (tmp_path / "log").read_text()


def test_with_one_process_and_with_two(environment, tmp_path):
    """One after the other: they do not take each other's runs for their own."""
    for words, runs in [([], "shakespeare"), (["--processes", "2"], "shakespeare-2-processes")]:
        command = [sys.executable, DEMO, os.environ["SYNTH"], tmp_path, "--steps", "2", "--attention", "V"]
        done = subprocess.run(
            [*command, *words], env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        assert f"{tmp_path / runs}/report.html" in done.stdout
        record = json.loads((tmp_path / runs / "V" / "run.json").read_text())
        assert record["processes"] == (2 if words else 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_stopped(environment, tmp_path_factory, number):
    """The second time nothing is trained: the models are there."""
    folder = tmp_path_factory.getbasetemp() / "served-demo"
    command = [sys.executable, DEMO, os.environ["SYNTH"], folder, "serve"]
    command += ["--steps", "2", "--attention", "R", "--port", "0"]
    folder.mkdir(exist_ok=True)
    log = folder / "log"
    with log.open("w") as file:
        # A group of its own: a signal for it reaches the demo and what it has started, as Ctrl-C does.
        process = subprocess.Popen(command, env=environment, stdout=file, stderr=file, start_new_session=True)
    try:
        address = re.compile(r"listening on (http://127\.0\.0\.1:\d+)")
        assert wait_until(process, lambda: address.search(log.read_text())), log.read_text()
        (server,) = children_of(process)
        body = json.dumps({"text": ["seven", "twelve"], "model": "R"}).encode()
        request = urllib.request.Request(address.search(log.read_text())[1] + "/v1/translate", body)
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert len(json.load(answer)["results"]) == 2
        if number == signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        assert process.wait(timeout=60) == 0, log.read_text()
        assert not pathlib.Path(f"/proc/{server}").exists()
    finally:
        process.kill()
        process.wait()
