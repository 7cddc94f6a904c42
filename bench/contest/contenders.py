"""Ours and the peers in one setting, ready to run; and the check that they do the same work."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module

import torch
from peers import LeftOut
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
class Contender:
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
class Field:
    """Those who take part, ours first, and those who don't, with the reason."""

    contenders: list[Contender]
    left_out: dict[str, str] = field(default_factory=dict)


def make_field(setting: Setting, peers: list[str]) -> Field:
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

    made = Field([Contender("ours", run_ours, leaves, gradient)])
    for name in peers:
        peer = import_module(f"peers.{PEERS[name]}")
        try:
            function = peer.make_core(setting.members, setting.length, setting.causal)
        except LeftOut as reason:
            made.left_out[name] = str(reason)
            continue
        argument = t if module is None else x
        if module is not None:
            function = Layer(setting.members, module.heads, weights, function)
        if hasattr(peer, "wrap"):
            function = peer.wrap(function)
        made.contenders.append(
            Contender(
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


def check_agreement(made: Field, backward: bool, tolerance: float = 1e-4) -> dict[str, float]:
    """Runs all of them once; whoever fails, or gives another result than ours, is left out with the reason.

    Returns the largest difference to each peer, over the result and (with backward) all gradients.
    """

    def results(contender: Contender) -> dict[str, Tensor]:
        found = {} if backward else {"result": contender.forward()}
        if backward:
            found.update(
                zip(
                    (f"gradient of {name}" for name in contender.leaves),
                    contender.both(),
                )
            )
        return found

    expected = results(made.contenders[0])
    agreeing, differences = [made.contenders[0]], {}
    for contender in made.contenders[1:]:
        if backward and contender.no_backward:
            made.left_out[contender.name] = contender.no_backward
            continue
        try:
            found = results(contender)
        except Exception as error:  # noqa: BLE001  a compiler may fail in any way; the others go on
            reason = str(error).strip().splitlines() or [""]
            made.left_out[contender.name] = f"{type(error).__name__}: {reason[0][:200]}"
            continue
        apart = {name: difference(expected[name], found[name]) for name in expected}
        worst = max(apart, key=apart.get)
        if not apart[worst] <= tolerance:
            made.left_out[contender.name] = (
                f"DISAGREES with ours: {worst}, by {apart[worst]:.1e} of the largest value"
            )
            continue
        differences[contender.name] = apart[worst]
        agreeing.append(contender)
    made.contenders = agreeing
    return differences
