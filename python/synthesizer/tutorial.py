"""The paper's attention variants as many people first met them: one head, no mask, no output map.

Each class is called with x (batch × length × width) and returns ``(out, attention_map)``. They are made to
be read; for work take :class:`synthesizer.Attention`: heads, masks, dropout, decoding and the fast kernel.

>>> import torch
>>> out, attention_map = SynthesizerDense(64, 10)(torch.randn(2, 10, 64))
>>> out.shape, attention_map.shape
(torch.Size([2, 10, 64]), torch.Size([2, 10, 10]))
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn


class _OneHead(nn.Module):
    """softmax(S(x)) · (x W_V + b_V). Each class below says what S, its ``logits``, is."""

    def __init__(self, in_dims: int) -> None:
        super().__init__()
        self.value = nn.Linear(in_dims, in_dims)
        self.softmax = nn.Softmax(dim=-1)

    def logits(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        attention_map = self.softmax(self.logits(x))
        return attention_map @ self.value(x), attention_map


def _length(x: Tensor, longest: int) -> int:
    if x.size(1) > longest:
        raise ValueError(
            f"length {x.size(1)} is over sentence_length {longest}: make the layer with a larger one"
        )
    return x.size(1)


class Transformer(_OneHead):
    """The dot product of queries and keys, over sqrt(width).

    >>> get_n_params(Transformer(64)) == 3 * (64 * 64 + 64)
    True
    """

    def __init__(self, in_dims: int) -> None:
        super().__init__(in_dims)
        self.query = nn.Linear(in_dims, in_dims)
        self.key = nn.Linear(in_dims, in_dims)

    def logits(self, x: Tensor) -> Tensor:
        return self.query(x) @ self.key(x).transpose(1, 2) / math.sqrt(x.size(-1))


class SynthesizerDense(_OneHead):
    """Each token synthesizes its own row with a small network, whose hidden layer is sentence_length wide.

    >>> x = torch.randn(2, 7, 64)  # any length up to sentence_length
    >>> SynthesizerDense(64, 10)(x)[1].shape
    torch.Size([2, 7, 7])
    """

    def __init__(self, in_dims: int, sentence_length: int) -> None:
        super().__init__(in_dims)
        self.hidden = nn.Linear(in_dims, sentence_length)
        self.relu = nn.ReLU()
        self.row = nn.Linear(sentence_length, sentence_length)

    def logits(self, x: Tensor) -> Tensor:
        length = _length(x, self.row.out_features)
        return self.row(self.relu(self.hidden(x)))[..., :length]


class SynthesizerRandom(_OneHead):
    """One table for every sample, whatever the tokens are: trained, or left as it was drawn where ``fixed``.

    >>> SynthesizerRandom(64, 10, fixed=True)(torch.randn(2, 10, 64))[1].shape
    torch.Size([1, 10, 10])
    """

    def __init__(self, in_dims: int, sentence_length: int, fixed: bool = False) -> None:
        super().__init__(in_dims)
        self.table = nn.Parameter(torch.randn(1, sentence_length, sentence_length), requires_grad=not fixed)

    def logits(self, x: Tensor) -> Tensor:
        length = _length(x, self.table.size(-1))
        return self.table[:, :length, :length]


class FactorizedSynthesizerDense(_OneHead):
    """Each token makes a = 4 and b = sentence_length / 4 (rounded up) numbers; their products are its row.

    >>> layer = FactorizedSynthesizerDense(64, 32)
    >>> layer.a.out_features, layer.b.out_features
    (4, 8)
    """

    def __init__(self, in_dims: int, sentence_length: int) -> None:
        super().__init__(in_dims)
        self.sentence_length = sentence_length
        self.a = nn.Linear(in_dims, 4)
        self.b = nn.Linear(in_dims, -(-sentence_length // 4))

    def logits(self, x: Tensor) -> Tensor:
        length = _length(x, self.sentence_length)
        # Column j is a[j mod 4] · b[j div 4]: every pair once.
        pairs = self.b(x).unsqueeze(-1) * self.a(x).unsqueeze(-2)
        return pairs.flatten(-2)[..., :length]


class FactorizedSynthesizerRandom(_OneHead):
    """The product of two projections of x to ``rank`` numbers: an unscaled dot product of low rank.

    So this form does look at the tokens. The paper's factorized random does not: there, and in
    ``synthesizer.Attention("FR")``, both factors are tables that every sample shares.

    >>> FactorizedSynthesizerRandom(64)(torch.randn(2, 10, 64))[1].shape
    torch.Size([2, 10, 10])
    """

    def __init__(self, in_dims: int, rank: int = 8) -> None:
        super().__init__(in_dims)
        self.left = nn.Linear(in_dims, rank)
        self.right = nn.Linear(in_dims, rank)

    def logits(self, x: Tensor) -> Tensor:
        return self.left(x) @ self.right(x).transpose(1, 2)


class MixtureSynthesizers(Transformer):
    """Random + vanilla: the trained table and the dot product, added (``Attention("R+V", weights="sum")``).

    >>> MixtureSynthesizers(64, 10)(torch.randn(2, 10, 64))[1].shape
    torch.Size([2, 10, 10])
    """

    def __init__(self, in_dims: int, sentence_length: int) -> None:
        super().__init__(in_dims)
        self.table = nn.Parameter(torch.randn(1, sentence_length, sentence_length))

    def logits(self, x: Tensor) -> Tensor:
        length = _length(x, self.table.size(-1))
        return self.table[:, :length, :length] + super().logits(x)


def get_n_params(model: nn.Module) -> int:
    """How many numbers the parameters of a model hold, fixed ones included.

    >>> get_n_params(SynthesizerRandom(64, 10)) == get_n_params(SynthesizerRandom(64, 10, fixed=True))
    True
    """
    return sum(parameter.numel() for parameter in model.parameters())


def calculate_flops(children: Iterable[nn.Module]) -> int:
    """Multiply-adds of the linear maps for one token, and 1 for each softmax and ReLU.

    Products of attention maps and values are not among them: an estimate of what a layer's maps cost, which
    the tutorial compares layers by. ``Attention.count`` counts everything.

    >>> calculate_flops(Transformer(64).children()) == 3 * 64 * 64 + 1
    True
    """
    flops = 0
    for module in (module for child in children for module in child.modules()):
        if isinstance(module, nn.Linear):
            flops += module.in_features * module.out_features
        elif isinstance(module, (nn.Softmax, nn.ReLU)):
            flops += 1
    return flops
