"""Ours: the operator on given features, mixed as the library mixes them, and the library's layer."""

from __future__ import annotations

import torch
from peers import Inputs
from torch import Tensor

import synthesizer

from .setting import HEADS, WIDTH, Setting


def core(members: list[str], t: Inputs, causal: bool) -> Tensor:
    alpha = torch.softmax(t["mixture"], -1).unbind(-1) if len(members) > 1 else [None]
    query = key = row = column = table = table_scale = left = right = None
    scale = 1.0
    for weight, member in zip(alpha, members):

        def weighed(tensor: Tensor, weight: Tensor | None = weight) -> Tensor:
            return tensor if weight is None else tensor * weight

        own = None
        if member == "V":
            query, key, scale = (
                weighed(t["V.query"]),
                t["V.key"],
                t["V.query"].size(-1) ** -0.5,
            )
        elif member == "D":
            row, column = weighed(t["D.row"]), t["D.weight"].transpose(-2, -1)
            own = t["D.bias"].unsqueeze(-2)
        elif member in ("R", "Fix"):
            own = t[f"{member}.table"]
        elif member == "FR":
            row, column = weighed(t["FR.left"]), t["FR.right"]
        elif member == "FD":
            left, right = weighed(t["FD.left"]), t["FD.right"]
        if own is not None and table is None:
            table, table_scale = own, weight if weight is None else weight.view(1)
        elif own is not None:  # a second table: their sum
            table = (table if table_scale is None else table * table_scale) + weighed(own)
            table_scale = None
    return torch.ops.synthesizer.attend(
        query,
        key,
        scale,
        row,
        column,
        table,
        left,
        right,
        False,
        t["value"],
        None,
        None,
        causal,
        0.0,
        0,
        table_scale=table_scale,
    )


def layer(setting: Setting) -> synthesizer.Attention:
    torch.manual_seed(1)
    return synthesizer.Attention(
        setting.attention,
        width=WIDTH,
        heads=HEADS,
        max_length=setting.length,
        causal=setting.causal,
    )
