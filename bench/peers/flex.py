"""FlexAttention: a product of features, and a function that changes each entry, compiled together."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from . import Inputs, eager

NO_BACKWARD = "FlexAttention has no backward on the CPU"

# Compiled alone, as its documentation does: with its inputs made in the same graph it finds no CPU kernel.
compiled_flex = torch.compile(flex_attention, dynamic=False)


def features(members: list[str], t: Inputs, weighed) -> tuple[Tensor, Tensor]:
    """The one product that FlexAttention makes. Where no member has one, it is of zeros."""
    queries, keys = [], []
    if "V" in members:
        query = t["V.query"]
        queries.append(query if members == ["V"] else weighed("V", query) * query.size(-1) ** -0.5)
        keys.append(t["V.key"])
    if "D" in members:
        queries.append(weighed("D", t["D.row"]))
        keys.append(t["D.weight"].transpose(-2, -1).expand(t["D.row"].size(0), -1, -1, -1))
    if not queries:
        zeros = t["value"].new_zeros(*t["value"].shape[:3], 8)
        return zeros, zeros
    return (queries[0], keys[0]) if len(queries) == 1 else (torch.cat(queries, -1), torch.cat(keys, -1))


def core(members: list[str], t: Inputs, block_mask) -> Tensor:
    t = {name: tensor.detach() for name, tensor in t.items()}  # it refuses what wants gradients, even unasked
    alpha = dict(zip(members, torch.softmax(t["mixture"], -1))) if len(members) > 1 else {}

    def weighed(member: str, tensor: Tensor) -> Tensor:
        return tensor * alpha[member] if alpha else tensor

    query, key = features(members, t, weighed)
    tables = [
        weighed(member, eager.FORMULAS[member](t)) for member in members if member in ("R", "Fix", "FR")
    ]
    table = sum(tables[1:], tables[0]) if tables else None
    bias = weighed("D", t["D.bias"]) if "D" in members else None
    left, right = (weighed("FD", t["FD.left"]), t["FD.right"]) if "FD" in members else (None, None)

    def score_mod(score, b, h, i, j):
        if table is not None:
            score = score + table[h, i, j]
        if bias is not None:
            score = score + bias[h, j]
        if left is not None:
            score = score + left[b, h, i, j % left.size(-1)] * right[b, h, i, j // left.size(-1)]
        return score

    unchanged = table is None and bias is None and left is None
    return compiled_flex(
        query,
        key,
        t["value"],
        score_mod=None if unchanged else score_mod,
        block_mask=block_mask,
        scale=None if members == ["V"] else 1.0,
    )


def make_core(members: list[str], length: int, causal: bool):
    block_mask = None
    if causal:
        block_mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, length, length, device="cpu")
    return lambda t: core(members, t, block_mask)
