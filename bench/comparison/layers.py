"""One whole layer, ours and eager PyTorch's with the same weights, ready to run at a point."""

from __future__ import annotations

import functools

import measure
import torch
from peers.transformer import make_attention

import synthesizer

from .competitors import Competitor, CompetitorSet, check_agreement
from .points import Point

TOLERANCE = 1e-3  # beside the largest value; float32, long sums


def make(point: Point, names: list[str]) -> tuple[synthesizer.Attention, CompetitorSet]:
    """names: who takes part. The loss is the sum of the result, so its gradient is ones."""
    torch.manual_seed(1)
    module = synthesizer.Attention(
        point.attention,
        width=point.width,
        heads=point.heads,
        max_length=point.length,
        causal=point.causal,
    )
    x = torch.randn(point.batch, point.length, point.width, requires_grad=True)
    leaves = {"x": x, **dict(module.named_parameters())}
    runs = {}
    if "ours" in names:
        runs["ours"] = functools.partial(module, x)
    if "prepared" in names:
        runs["prepared"] = functools.partial(module.prepare(), x)
    if "eager" in names:
        weights = dict(module.named_parameters()) | dict(module.named_buffers())
        facts = {"attention": point.attention, "heads": point.heads, "length": point.length}
        runs["eager"] = functools.partial(make_attention(facts, weights, point.causal), x)
    gradient = torch.ones(()).expand_as(x)
    return module, CompetitorSet([Competitor(name, run, leaves, gradient) for name, run in runs.items()])


def check(point: Point, passes: list[str]) -> None:
    """RuntimeError where ours and eager give different results or gradients."""
    for one in passes:
        _, made = make(point, ["ours", "eager"])
        check_agreement(made, backward=one == "training", tolerance=TOLERANCE)
        for name, reason in made.left_out.items():
            raise RuntimeError(f"{name}, {one}, {point}: {reason}")


def rounds(runs: dict, seconds: float) -> dict[str, list[float]]:
    """The first round brings in threads and memory (gigabytes for long tables), and does not count."""
    measure.interleaved(runs, 0, least=1, most=1)
    return measure.interleaved(runs, seconds, least=1)


def seconds_of(point: Point, names: list[str], training: bool, budget: float) -> dict[str, list[float]]:
    """Seconds of every run. Forward is without gradients and dropout; "prepared" is the layer made ready for
    inference once, before it is timed, which eager has no counterpart of."""
    torch.set_num_threads(point.threads)
    module, made = make(point, names)
    module.train(training)
    runs = {c.name: c.both if training else c.forward for c in made.competitors}
    return rounds(runs, budget)
