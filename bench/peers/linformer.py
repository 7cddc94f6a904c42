"""Linformer in eager PyTorch: attention to a few mixtures of all positions. It has no causal form."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from .layer import hold, project

NAME = "linformer"


class Linformer(nn.Module):
    def __init__(self, heads: int, weights: dict[str, Tensor]) -> None:
        """weights: the state of the library's layer, whose heads share both projections of positions."""
        super().__init__()
        self.heads = heads
        hold(self, weights)

    def split(self, x: Tensor) -> Tensor:
        return x.view(x.size(0), x.size(1), self.heads, -1).transpose(1, 2)  # B×H×L×K

    def forward(self, x: Tensor) -> Tensor:
        length = x.size(1)
        # Along the length first, while the heads still lie side by side: k×L times B×L×D.
        keys = self.split(self.project.key[:, :length] @ project(self.key, x))  # B×H×k×K
        values = self.split(self.project.value[:, :length] @ project(self.value, x))
        query = self.split(project(self.query, x))
        weights = torch.softmax(query @ keys.transpose(-2, -1) / math.sqrt(query.size(-1)), -1)  # B×H×L×k
        return project(self.output, (weights @ values).transpose(1, 2).flatten(2))
