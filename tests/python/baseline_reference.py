"""The baselines as their formulas say it, with torch's own convolutions and products in float64.

It shares nothing with the library: all it knows is the names and shapes of the parameters.
"""

import math

import torch
import torch.nn.functional as F


def mix(name, state, x, heads, causal=False, lengths=None, groups=None):
    """The result B×L×D, differentiable, from parameters by name in float64."""
    length = x.size(1)
    real = torch.ones(x.shape[:2], dtype=torch.bool)
    if lengths is not None:
        real = torch.arange(length)[None, :] < lengths[:, None]
    real = real[:, :, None].to(x.dtype)
    y = {"light-conv": light, "dynamic-conv": dynamic, "linformer": linformer}[name](
        state, x, heads, causal, real, groups
    )
    return _linear(state, "output", y) * real


def light(state, x, heads, causal, real, groups=None):
    """Every channel is convolved with the kernel of its group by torch's grouped convolution."""
    z = F.glu(_linear(state, "glu", x), -1) * real
    kernel = torch.softmax(state["kernel.weight"], -1)  # H×w
    taps, width = kernel.size(1), x.size(2)
    per_channel = kernel.repeat_interleave(width // kernel.size(0), 0)[:, None]  # D×1×w
    return F.conv1d(_around(z, taps, causal).mT, per_channel, groups=width).mT * real


def dynamic(state, x, heads, causal, real, groups=None):
    """All windows side by side, each times the kernel of its position."""
    z = F.glu(_linear(state, "glu", x), -1) * real
    batch, length, width = x.shape
    scores = _linear(state, "kernel", z)
    if groups is None:  # head by head
        scores, groups = scores.view(batch, length, heads, -1), heads
    else:  # tap by tap
        scores = scores.view(batch, length, -1, groups).mT
    kernel = torch.softmax(scores, -1)
    windows = _around(z, kernel.size(-1), causal).unfold(1, kernel.size(-1), 1)  # B×L×D×w
    windows = windows.reshape(batch, length, groups, width // groups, -1)
    return torch.einsum("blhct,blht->blhc", windows, kernel).reshape(x.shape) * real


def linformer(state, x, heads, causal, real, groups=None):
    q, k, v = (_split(_linear(state, n, x), heads) for n in ("query", "key", "value"))
    e = state["project.key"]
    f = state.get("project.value", e)
    k, v = (m[..., : x.size(1)] @ (t * real[:, None]) for m, t in ((e, k), (f, v)))  # B×H×k×K
    p = torch.softmax(q @ k.mT / math.sqrt(x.size(2) // heads), -1)
    return (p @ v).transpose(1, 2).reshape(x.shape) * real


def _around(z, taps, causal):
    """Zeros before and after B×L×D, as many as a kernel of that width reaches."""
    left = taps - 1 if causal else taps // 2
    return F.pad(z, (0, 0, left, taps - 1 - left))


def _split(x, heads):
    return x.unflatten(2, (heads, -1)).transpose(1, 2)


def _linear(state, name, x):
    return F.linear(x, state[f"{name}.weight"], state.get(f"{name}.bias"))
