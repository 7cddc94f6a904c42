"""One setting of the comparison: which attention, at which size; its inputs, and the work that it takes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from peers import Inputs

WIDTH, HEADS = 512, 8
RANK = 8  # the default of factorized-random
GLOBAL = {"R", "Fix", "FR"}  # depend on no token


@dataclass(frozen=True)
class Setting:
    attention: str
    batch: int
    length: int
    causal: bool
    part: str = "core"  # or "layer"

    @property
    def members(self) -> list[str]:
        return self.attention.split("+")

    @property
    def shape(self) -> str:
        return f"{self.batch}×{self.length}"

    @property
    def is_global(self) -> bool:
        return set(self.members) <= GLOBAL

    def __str__(self) -> str:
        return f"{self.attention} {self.shape} {'causal' if self.causal else 'not causal'} {self.part}"


def factor_sizes(length: int) -> tuple[int, int]:
    """a and b of factorized-dense as the library chooses them: a the largest power of two ≤ sqrt(length)."""
    a = 1
    while 4 * a * a <= length:
        a *= 2
    return a, -(-length // a)


def split_like_a_layer(batch: int, length: int) -> torch.Tensor:
    """B×H×L×K as a view of B×L×D, which is how a projection leaves it."""
    return torch.randn(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)


def core_inputs(setting: Setting) -> Inputs:
    """Random features and tables, as large as in a fresh layer; all want gradients but Fix.table."""
    torch.manual_seed(1)
    b, n, k = setting.batch, setting.length, WIDTH // HEADS
    t = {"value": split_like_a_layer(b, n)}
    for member in setting.members:
        if member == "V":
            t["V.query"], t["V.key"] = (
                split_like_a_layer(b, n),
                split_like_a_layer(b, n),
            )
        elif member == "D":
            t["D.row"] = split_like_a_layer(b, n).relu_()
            t["D.weight"], t["D.bias"] = (
                torch.randn(HEADS, k, n) / k**0.5,
                torch.randn(HEADS, n),
            )
        elif member in ("R", "Fix"):
            t[f"{member}.table"] = torch.randn(HEADS, n, n)
        elif member == "FR":
            t["FR.left"], t["FR.right"] = (torch.randn(HEADS, n, RANK) * RANK**-0.25 for _ in range(2))
        elif member == "FD":
            t["FD.left"], t["FD.right"] = (torch.randn(b, HEADS, n, size) for size in factor_sizes(n))
    if len(setting.members) > 1:
        t["mixture"] = torch.linspace(-0.5, 0.5, len(setting.members))
    return {name: tensor.requires_grad_(name != "Fix.table") for name, tensor in t.items()}


def multiply_adds(setting: Setting, backward: bool) -> int:
    """Useful multiply-adds of the core: products alone, only where the mask lets through, nothing made twice.

    Each product has two gradients, one for each side, unless a side is never trained.
    """
    b, n, k = setting.batch, setting.length, WIDTH // HEADS
    pairs = HEADS * (n * (n + 1) // 2 if setting.causal else n * n)
    logits = {
        "V": b * pairs * k,
        "D": b * pairs * k,
        "FR": pairs * RANK,
        "FD": b * pairs,
        "R": 0,
        "Fix": 0,
    }
    forward = b * pairs * k + sum(logits[member] for member in setting.members)
    if not backward:
        return forward
    return (2 if setting.members == ["Fix"] else 3) * forward
