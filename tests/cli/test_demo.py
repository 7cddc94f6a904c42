"""tools/demo.py: its training saves and ends with it, whichever way it ends."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
import tensors
from program import wait_until

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
