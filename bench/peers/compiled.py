"""The eager formulas under torch.compile: one graph, all sizes known. The layer is compiled as a whole."""

from __future__ import annotations

import torch

from .eager import make_core

__all__ = ["make_core", "wrap"]


def wrap(function):
    return torch.compile(function, fullgraph=True, dynamic=False)
