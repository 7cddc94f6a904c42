"""Ours and the peers in one setting, ready to run; and the check that they do the same work."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module

import torch
from peers import NotSupported
from peers.layer import Layer
from torch import Tensor

from . import ours
from .setting import WIDTH, Setting, core_inputs, split_like_a_layer

PEERS = {
    "eager": "eager",
    "compile": "compiled",
    "sdpa": "sdpa",
    "flex": "flex",
}  # name: file in peers/


@dataclass
class Competitor:
    name: str
    run: Callable[[], Tensor]
    leaves: dict[str, Tensor]  # where gradients go
    gradient: Tensor  # of the result
    no_backward: str = ""  # why it can't, if it can't

    def forward(self) -> Tensor:
        with torch.no_grad():
            return self.run()

    def both(self) -> tuple[Tensor, ...]:
        # Gradients are made anew each time, and added to nothing.
        return torch.autograd.grad(self.run(), list(self.leaves.values()), self.gradient)


@dataclass
class CompetitorSet:
    """Those who take part, ours first, and those who don't, with the reason."""

    competitors: list[Competitor]
    left_out: dict[str, str] = field(default_factory=dict)


def make_competitors(setting: Setting, peers: list[str]) -> CompetitorSet:
    """Everybody gets the very same tensors."""
    module = ours.layer(setting) if setting.part == "layer" else None
    if module is not None:
        x = torch.randn(setting.batch, setting.length, WIDTH, requires_grad=True)
        leaves = {"x": x, **dict(module.named_parameters())}
        gradient = torch.randn_like(x)
        weights = dict(module.named_parameters()) | dict(module.named_buffers())
    else:
        t = core_inputs(setting)
        leaves = {name: tensor for name, tensor in t.items() if tensor.requires_grad}
        gradient = split_like_a_layer(setting.batch, setting.length)

    def run_ours() -> Tensor:
        if module is not None:
            return module(x)
        return ours.core(setting.members, t, setting.causal)

    made = CompetitorSet([Competitor("ours", run_ours, leaves, gradient)])
    for name in peers:
        peer = import_module(f"peers.{PEERS[name]}")
        try:
            function = peer.make_core(setting.members, setting.length, setting.causal)
        except NotSupported as reason:
            made.left_out[name] = str(reason)
            continue
        argument = t if module is None else x
        if module is not None:
            function = Layer(setting.members, module.heads, weights, function)
        if hasattr(peer, "wrap"):
            function = peer.wrap(function)
        made.competitors.append(
            Competitor(
                name,
                functools.partial(function, argument),
                leaves,
                gradient,
                getattr(peer, "NO_BACKWARD", ""),
            )
        )
    return made


def difference(ours: Tensor, theirs: Tensor) -> float:
    """The largest difference, beside the largest value."""
    return ((ours - theirs).abs().max() / theirs.abs().max().clamp_min(1e-12)).item()


def check_agreement(made: CompetitorSet, backward: bool, tolerance: float = 1e-4) -> dict[str, float]:
    """Runs all of them once; whoever fails, or gives another result than ours, is left out with the reason.

    Returns the largest difference to each peer, over the result and (with backward) all gradients.
    """

    def results(competitor: Competitor) -> dict[str, Tensor]:
        found = {} if backward else {"result": competitor.forward()}
        if backward:
            found.update(
                zip(
                    (f"gradient of {name}" for name in competitor.leaves),
                    competitor.both(),
                )
            )
        return found

    expected = results(made.competitors[0])
    agreeing, differences = [made.competitors[0]], {}
    for competitor in made.competitors[1:]:
        if backward and competitor.no_backward:
            made.left_out[competitor.name] = competitor.no_backward
            continue
        try:
            found = results(competitor)
        except Exception as error:  # noqa: BLE001  a compiler may fail in any way; the others go on
            reason = str(error).strip().splitlines() or [""]
            made.left_out[competitor.name] = f"{type(error).__name__}: {reason[0][:200]}"
            continue
        apart = {name: difference(expected[name], found[name]) for name in expected}
        worst = max(apart, key=apart.get)
        if not apart[worst] <= tolerance:
            made.left_out[competitor.name] = (
                f"DISAGREES with ours: {worst}, by {apart[worst]:.1e} of the largest value"
            )
            continue
        differences[competitor.name] = apart[worst]
        agreeing.append(competitor)
    made.competitors = agreeing
    return differences
