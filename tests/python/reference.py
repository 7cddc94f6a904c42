"""The layer as its formulas say it, on whole matrices in float64: what the library is compared with.

    Y = softmax(S(X) + M) · X W_V        out = concat_heads(Y) W_O

It shares nothing with the library: all it knows is the names and shapes of the parameters. Letters in einsum:
b batch, h heads, l rows, m columns, d width, c features of a head.
"""

import math

import torch


def attend(state, x, heads, causal=False, lengths=None, tile=False):
    """The result B×L×D and the weights B×H×L×L, differentiable, from parameters by name in float64."""
    batch, length, width = x.shape
    p = weights(logits(state, x, heads, tile), causal, lengths)
    v = _split(_linear(state, "value", x), heads)
    y = torch.einsum("bhlm,bhmc->blhc", p, v).reshape(batch, length, width)
    y = _linear(state, "output", y)
    if lengths is not None:
        y = y * (torch.arange(length)[None, :, None] < lengths[:, None, None])
    return y, p


def logits(state, x, heads, tile=False):
    """S, B×H×L×L: the members of the mixture in the order of their names, each times its α."""
    names = [name.split(".")[1] for name in state if name.startswith("logits.") and name != "logits.mixture"]
    members = list(dict.fromkeys(names))
    alpha = torch.ones(heads, len(members), dtype=x.dtype)
    if "logits.mixture" in state:
        alpha = torch.softmax(state["logits.mixture"], -1).expand(heads, len(members))
    shape = (x.size(0), heads, x.size(1), x.size(1))
    total = torch.zeros(shape, dtype=x.dtype)
    for n, member in enumerate(members):
        prefix = f"logits.{member}."
        own = {name[len(prefix) :]: tensor for name, tensor in state.items() if name.startswith(prefix)}
        total = total + alpha[:, n, None, None] * MEMBERS[member](own, x, heads, tile)
    return total


def weights(s, causal, lengths):
    """softmax(S + M); rows that see nothing, and rows past a sample's length, are zero."""
    length = s.size(-1)
    i, j = torch.arange(length)[:, None], torch.arange(length)[None, :]
    seen = (j <= i if causal else torch.ones(length, length, dtype=torch.bool)).expand(s.shape)
    if lengths is not None:
        n = lengths[:, None, None, None]
        seen = seen & (j < n) & (i < n)
    e = torch.where(seen, torch.exp(s - s.amax(-1, keepdim=True).detach()), 0.0)
    total = e.sum(-1, keepdim=True)
    return e / torch.where(total > 0, total, 1.0)


def vanilla(own, x, heads, tile):
    q, k = (_split(x @ own[f"{name}.weight"].T, heads) for name in ("query", "key"))
    return torch.einsum("bhlc,bhmc->bhlm", q, k) / math.sqrt(x.size(-1) // heads)


def dense(own, x, heads, tile):
    out, bias = own["out.weight"], own["out.bias"]
    if out.dim() == 2:  # one for all heads
        out, bias = out.expand(heads, *out.shape), bias.expand(heads, *bias.shape)
    s = torch.einsum("bhlc,hcm->bhlm", _hidden(own, x, heads), out) + bias[None, :, None, :]
    return s[..., : x.size(1)]


def random(own, x, heads, tile):
    return own["table"][None, :, : x.size(1), : x.size(1)]


def factorized_random(own, x, heads, tile):
    return (own["left"] @ own["right"].mT)[None, :, : x.size(1), : x.size(1)]


def factorized_dense(own, x, heads, tile):
    hidden = _hidden(own, x, heads)
    a, b = (
        torch.einsum("bhlc,hcm->bhlm", hidden, own[f"{name}.weight"]) + own[f"{name}.bias"][None, :, None, :]
        for name in "ab"
    )
    j = torch.arange(x.size(1))
    return a[..., j % a.size(-1)] * b[..., j % b.size(-1) if tile else j // a.size(-1)]


MEMBERS = {
    "V": vanilla,
    "D": dense,
    "R": random,
    "Fix": random,
    "FR": factorized_random,
    "FD": factorized_dense,
}


def _split(x, heads):
    """Head m has columns m·K … (m+1)·K of the width: B×L×D to B×H×L×K."""
    return torch.stack(x.split(x.size(-1) // heads, dim=-1), 1)


def _linear(state, name, x):
    y = x @ state[f"{name}.weight"].T
    return y + state[f"{name}.bias"] if f"{name}.bias" in state else y


def _hidden(own, x, heads):
    """What dense maps to columns: relu(x W_1 + b_1) of each head, or x itself without a hidden layer."""
    if "hidden.weight" not in own:
        return x[:, None].expand(-1, heads, -1, -1)
    return _split(torch.relu(_linear(own, "hidden", x)), heads)
