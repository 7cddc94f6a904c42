"""Lightweight and dynamic convolutions in eager PyTorch, in the usual unfold form."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .layer import hold, project

NAMES = ("light-conv", "dynamic-conv")


class Convolution(nn.Module):
    def __init__(self, name: str, heads: int, weights: dict[str, Tensor], causal: bool) -> None:
        super().__init__()
        self.dynamic, self.heads, self.causal = name == "dynamic-conv", heads, causal
        hold(self, weights)
        self.taps = self.kernel.weight.size(0) // heads if self.dynamic else self.kernel.weight.size(1)

    def forward(self, x: Tensor) -> Tensor:
        z = F.glu(project(self.glu, x), -1)  # B×L×D
        batch, length, width = z.shape
        if self.dynamic:
            scores = project(self.kernel, z).view(batch, length, self.heads, self.taps)
        else:
            scores = self.kernel.weight.expand(batch, length, -1, -1)
        taps = torch.softmax(scores, -1).unsqueeze(-1)  # B×L×H×w×1
        left = self.taps - 1 if self.causal else self.taps // 2
        windows = F.pad(z, (0, 0, left, self.taps - 1 - left)).unfold(1, self.taps, 1)  # B×L×D×w
        windows = windows.reshape(batch, length, self.heads, width // self.heads, self.taps)
        return project(self.output, (windows @ taps).view(batch, length, width))
