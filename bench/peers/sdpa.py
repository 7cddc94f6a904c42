"""PyTorch's own fused attention. It knows dot products only."""

from __future__ import annotations

from torch.nn.functional import scaled_dot_product_attention

from . import NotSupported


def make_core(members: list[str], length: int, causal: bool):
    if members != ["V"]:
        raise NotSupported("scaled_dot_product_attention is measured for V alone, whose formula it is")
    return lambda t: scaled_dot_product_attention(t["V.query"], t["V.key"], t["value"], is_causal=causal)
