"""Eager PyTorch: logits, mask, softmax, product, one line each."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from . import Inputs


def vanilla(t: Inputs) -> Tensor:
    query, key = t["V.query"], t["V.key"]
    return query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # B×H×L×L


def dense(t: Inputs) -> Tensor:
    return t["D.row"] @ t["D.weight"] + t["D.bias"].unsqueeze(-2)  # B×H×L×L


def random(t: Inputs) -> Tensor:
    return t["R.table"]  # H×L×L


def fixed_random(t: Inputs) -> Tensor:
    return t["Fix.table"]  # H×L×L


def factorized_random(t: Inputs) -> Tensor:
    return t["FR.left"] @ t["FR.right"].transpose(-2, -1)  # H×L×L


def factorized_dense(t: Inputs) -> Tensor:
    left, right = t["FD.left"], t["FD.right"]
    products = right.unsqueeze(-1) * left.unsqueeze(-2)  # B×H×L×b×a: column j is right[j div a]·left[j mod a]
    return products.flatten(-2)[..., : left.size(-2)]  # B×H×L×L


FORMULAS = {
    "V": vanilla,
    "D": dense,
    "R": random,
    "Fix": fixed_random,
    "FR": factorized_random,
    "FD": factorized_dense,
}


def logits(members: list[str], t: Inputs) -> Tensor:
    if len(members) == 1:
        return FORMULAS[members[0]](t)
    alpha = torch.softmax(t["mixture"], -1)
    return sum(alpha[n] * FORMULAS[member](t) for n, member in enumerate(members))


def causal_mask(length: int) -> Tensor:
    """Added to the logits; made beforehand, once."""
    return torch.full((length, length), -math.inf).triu(1)


def core(members: list[str], t: Inputs, mask: Tensor | None) -> Tensor:
    scores = logits(members, t)
    if mask is not None:
        scores = scores + mask
    return torch.softmax(scores, -1) @ t["value"]  # B×H×L×K


def make_core(members: list[str], length: int, causal: bool):
    mask = causal_mask(length) if causal else None
    return lambda t: core(members, t, mask)
