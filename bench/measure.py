"""Measuring: interleaved medians, the rate of matrix products, peak memory, and facts about the machine."""

from __future__ import annotations

import datetime
import os
import platform
import random
import resource
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import torch


def interleaved(
    competitors: dict[str, Callable[[], object]],
    seconds: float,
    least: int = 3,
    most: int = 50,
) -> dict[str, list[float]]:
    """Seconds of every run of every competitor, round by round: what slows the machine down slows down all.

    The order within a round changes, so that nobody always finds the caches as the same neighbour left them.
    Rounds go on until all together took `seconds`, but there are at least `least` and at most `most`.
    """
    times: dict[str, list[float]] = {name: [] for name in competitors}
    order, shuffle = list(competitors), random.Random(1).shuffle
    spent = 0.0
    for done in range(most):
        if done >= least and spent >= seconds:
            break
        shuffle(order)
        for name in order:
            begin = time.perf_counter()
            result = competitors[name]()
            times[name].append(time.perf_counter() - begin)
            spent += times[name][-1]
            del result  # freed before the next one starts
    return times


def median(values: list[float]) -> float:
    return statistics.median(values)


SGEMM_SIZE = 1024


def make_sgemm() -> Callable[[], object]:
    """One large float32 product with all threads: what this machine has to give. It runs as one more
    competitor in every setting, since a rate measured at another time may be that of a busier machine."""
    a, b = torch.randn(SGEMM_SIZE, SGEMM_SIZE), torch.randn(SGEMM_SIZE, SGEMM_SIZE)
    a @ b  # the first one sets up threads
    return lambda: a @ b


def sgemm_rate(times: list[float]) -> float:
    """Multiply-adds a second."""
    return SGEMM_SIZE**3 / median(times)


def proc_bytes(file: str, field: str) -> int:
    for line in Path("/proc", file).read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/{file} has no {field}")


def status_bytes(field: str) -> int:
    """Of this process."""
    return proc_bytes("self/status", field)


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def reset_peak() -> None:
    """The high-water mark of resident memory starts anew; OSError where that is not allowed."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_memory(work: Callable[[], object]) -> int:
    """Bytes by which the resident memory of this process grows, at its highest, while the work runs.

    To be called in a fresh process: memory that an earlier competitor left behind would be reused unseen.
    """
    before = status_bytes("VmRSS")
    try:
        reset_peak()
    except OSError:  # not allowed here: the mark of the whole life of the process has to do
        result = work()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    else:
        result = work()
        peak = status_bytes("VmHWM")
    del result
    return max(0, peak - before)


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _commit() -> str:
    here = Path(__file__).parent

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=here, capture_output=True, text=True, check=False
        ).stdout.strip()

    commit = git("rev-parse", "--short", "--verify", "-q", "HEAD")
    return (commit + " (with changes)" if git("status", "--porcelain") else commit) if commit else "none"


def machine_facts() -> dict[str, object]:
    """Who measured: processor, instructions, threads, versions, date, commit."""
    import synthesizer

    return {
        "processor": _processor(),
        "cores": cores(),
        "threads": torch.get_num_threads(),
        "load_before": round(os.getloadavg()[0], 2),  # others at work flatter whoever needs the memory least
        "vector_target": synthesizer._C.vector_target(),
        "torch_capability": torch.backends.cpu.get_cpu_capability(),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "synthesizer": synthesizer.__version__,
        "commit": _commit(),
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
    }
