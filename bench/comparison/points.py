"""How cost grows, point by point: one layer at one size, and the sweeps that change one size at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from measure import cores

ATTENTIONS = ["V", "D", "R", "Fix", "FR", "FD", "R+V", "light-conv", "dynamic-conv", "linformer"]
SWEEPS = ["length", "batch", "threads", "width"]
PASSES = ["forward", "training"]
HEAD_WIDTH = 64
LENGTHS_FROM = 128
NOT_CAUSAL = {"linformer"}  # every mixture of positions has all of them in it
TABLES = {"R", "Fix", "FR"}  # weights depend on no token: H×L×L, whatever the batch


@dataclass(frozen=True)
class Point:
    attention: str
    batch: int
    length: int
    width: int
    threads: int

    @property
    def heads(self) -> int:
        return self.width // HEAD_WIDTH

    @property
    def causal(self) -> bool:
        return self.attention not in NOT_CAUSAL

    @property
    def members(self) -> list[str]:
        return self.attention.split("+")

    @property
    def tokens(self) -> int:
        return self.batch * self.length

    @property
    def has_precomputed_weights(self) -> bool:
        """Whether a prepared layer has computed its weights before it is called."""
        return self.causal and set(self.members) <= TABLES

    def __str__(self) -> str:
        size = f"{self.batch}×{self.length}, width {self.width}, {self.threads} threads"
        return f"{self.attention} {size}"


def doubling(first: int, last: int) -> list[int]:
    return [first << n for n in range(last.bit_length()) if first << n <= last]


def sweep(name: str, attentions: list[str], max_length: int) -> Iterator[tuple[int, Point]]:
    """The size that changes, and the point. All attention variants of one size come before the next size, so
    that they are measured at about the same time."""
    every = cores()
    sizes = {
        "length": [(n, (1, n, 512, every)) for n in doubling(LENGTHS_FROM, max_length)],
        "batch": [(n, (n, 128, 512, every)) for n in doubling(1, 64)],
        "threads": [(n, (8, 512, 512, n)) for n in sorted({*doubling(1, every), every})],
        "width": [(n, (8, 128, n, every)) for n in doubling(128, 1024)],
    }
    for at, size in sizes[name]:
        for attention in attentions:
            yield at, Point(attention, *size)
