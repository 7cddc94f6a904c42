"""Small things around calls of the program."""

import json
import pathlib
import time


def changes(settings):
    """--set for each of them."""
    return [word for setting in settings for word in ("--set", setting)]


def wait_until(process, happened, seconds=60):
    """Waits for something to happen while the program runs; False where the program ended first."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if happened():
            return True
        if process.poll() is not None:
            return False
        time.sleep(0.005)
    raise AssertionError("it took too long")


def metrics(run, split=None):
    """The objects of metrics.jsonl, or those of one split."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [line for line in lines if split in (None, line["split"])]


def scores(synth, run, *options):
    """What `synth eval` measures."""
    return json.loads(synth("eval", run, "--json", *options).stdout)


def children_of(process):
    """Numbers of the processes that a process has started, in their order; none where it has ended."""
    try:
        text = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    except FileNotFoundError:
        return []
    return [int(word) for word in text.split()]


def alive(pid):
    """Neither gone nor waiting to be reaped."""
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
