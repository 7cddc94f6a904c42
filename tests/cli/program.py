"""Small things around calls of the program."""

import json
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
