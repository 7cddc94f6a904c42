"""The whole layer in plain PyTorch, around any peer's core; its parameters are those of our layer."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from . import Inputs


def hold(module: nn.Module, weights: dict[str, Tensor]) -> None:
    """Gives the module the tensors by their names ("value.weight"), as they are, not copied."""
    for name, tensor in weights.items():
        owner = module
        *path, last = name.split(".")
        for part in path:
            if part not in owner._modules:
                owner.add_module(part, nn.Module())
            owner = owner._modules[part]
        if isinstance(tensor, nn.Parameter):
            owner.register_parameter(last, tensor)
        else:
            owner.register_buffer(last, tensor)


def project(owner: nn.Module, x: Tensor) -> Tensor:
    return nn.functional.linear(x, owner.weight, getattr(owner, "bias", None))


class Layer(nn.Module):
    def __init__(self, members: list[str], heads: int, weights: dict[str, Tensor], core) -> None:
        """weights: the state of the library's layer."""
        super().__init__()
        self.members, self.heads, self.core = members, heads, core
        hold(self, weights)

    def split(self, x: Tensor) -> Tensor:
        return x.view(x.size(0), x.size(1), self.heads, -1).transpose(1, 2)  # B×H×L×K

    def hidden(self, x: Tensor, member: nn.Module) -> Tensor:
        return self.split(torch.relu(project(member.hidden, x)))

    def inputs(self, x: Tensor) -> Inputs:
        """What the core takes, from the tokens."""
        logits = self.logits
        t = {"value": self.split(project(self.value, x))}
        for member in self.members:
            own = getattr(logits, member)
            if member == "V":
                t["V.query"] = self.split(project(own.query, x))
                t["V.key"] = self.split(project(own.key, x))
            elif member == "D":
                t["D.row"], t["D.weight"], t["D.bias"] = (
                    self.hidden(x, own),
                    own.out.weight,
                    own.out.bias,
                )
            elif member in ("R", "Fix"):
                t[f"{member}.table"] = own.table
            elif member == "FR":
                t["FR.left"], t["FR.right"] = own.left, own.right
            elif member == "FD":
                hidden = self.hidden(x, own)
                t["FD.left"] = hidden @ own.a.weight + own.a.bias.unsqueeze(-2)
                t["FD.right"] = hidden @ own.b.weight + own.b.bias.unsqueeze(-2)
        if len(self.members) > 1:
            t["mixture"] = logits.mixture
        return t

    def forward(self, x: Tensor) -> Tensor:
        y = self.core(self.inputs(x))  # B×H×L×K
        return project(self.output, y.transpose(1, 2).flatten(2))  # B×L×D
