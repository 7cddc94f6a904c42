"""Peak memory of one competitor, forward and backward, in a process of its own.

As a program (python -m comparison.peak_memory ATTENTION BATCH LENGTH CAUSAL COMPETITOR) it prints the bytes.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import measure
import torch

from .competitors import make_competitors
from .process import bytes_printed
from .setting import Setting


def peak_of(setting: Setting, competitor: str, threads: int) -> int:
    """In a fresh process."""
    words = [setting.attention, setting.batch, setting.length, int(setting.causal), competitor, threads]
    return bytes_printed("comparison.peak_memory", words, f"{competitor} in {setting}")


def main() -> None:
    attention, batch, length, causal, name, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    setting = Setting(attention, int(batch), int(length), bool(int(causal)))

    def competitor(setting: Setting):
        return make_competitors(setting, [] if name == "ours" else [name]).competitors[-1]

    # Libraries, threads and code come into memory with the first call: a small one, before the count begins.
    competitor(replace(setting, batch=1, length=64)).both()
    work = competitor(setting).both
    print(measure.peak_memory(work))


if __name__ == "__main__":
    main()
