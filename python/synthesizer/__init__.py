"""Attention variants of "Synthesizer: Rethinking Self-Attention" (Tay et al.).

>>> import torch, synthesizer
>>> a = synthesizer.Attention("R+V", width=64, heads=4, max_length=32, causal=True)
>>> a(torch.randn(2, 10, 64)).shape
torch.Size([2, 10, 64])
"""

import torch  # noqa: F401  loads the libraries that _C stands on; must come first

from . import (
    _C,  # noqa: F401  registers torch.ops.synthesizer
    metrics,
)
from ._C import keep_memory, share_cores
from .attention import Attention, PreparedAttention, State, baselines, variants
from .runs import Run, load
from .tutorial import (
    FactorizedSynthesizerDense,
    FactorizedSynthesizerRandom,
    MixtureSynthesizers,
    SynthesizerDense,
    SynthesizerRandom,
    Transformer,
    calculate_flops,
    get_n_params,
)

__version__ = "0.1.0"

__all__ = [
    "Attention",
    "PreparedAttention",
    "State",
    "variants",
    "baselines",
    "load",
    "Run",
    "metrics",
    "share_cores",
    "keep_memory",
    "Transformer",
    "SynthesizerDense",
    "SynthesizerRandom",
    "FactorizedSynthesizerDense",
    "FactorizedSynthesizerRandom",
    "MixtureSynthesizers",
    "get_n_params",
    "calculate_flops",
]
