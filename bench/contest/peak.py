"""Peak memory of one contender, forward and backward, in a process of its own.

As a program (python -m contest.peak ATTENTION BATCH LENGTH CAUSAL CONTENDER) it prints the bytes.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import measure
import torch

from .contenders import make_field
from .process import bytes_printed
from .setting import Setting


def peak_of(setting: Setting, contender: str, threads: int) -> int:
    """In a fresh process."""
    words = [setting.attention, setting.batch, setting.length, int(setting.causal), contender, threads]
    return bytes_printed("contest.peak", words, f"{contender} in {setting}")


def main() -> None:
    attention, batch, length, causal, name, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    setting = Setting(attention, int(batch), int(length), bool(int(causal)))

    def contender(setting: Setting):
        return make_field(setting, [] if name == "ours" else [name]).contenders[-1]

    # Libraries, threads and code come into memory with the first call: a small one, before the count begins.
    contender(replace(setting, batch=1, length=64)).both()
    work = contender(setting).both
    print(measure.peak_memory(work))


if __name__ == "__main__":
    main()
