"""What callers hand over, as the plain values that the layer takes; anything else is a ValueError."""

from __future__ import annotations

import numbers
import operator
from typing import Any, Union

import torch
from torch import Tensor

Option = Union[bool, int, float, str]


def integer(name: str, value: Any) -> int:
    """A whole number, also NumPy's.

    >>> integer("width", 64)
    64
    >>> integer("width", 64.0)
    Traceback (most recent call last):
    ValueError: width is 64.0: it must be a whole number
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} is {value!r}: it must be a whole number") from None
    return _within_64_bits(name, number)


def real(name: str, value: Any) -> float:
    """A number.

    >>> real("dropout", 0.1)
    0.1
    """
    if not isinstance(value, numbers.Real):
        raise ValueError(f"{name} is {value!r}: it must be a number")
    return float(value)


def flag(name: str, value: Any) -> bool:
    """True or False. Not 1 or "no": where those mean a flag, they mean a mistake more often.

    >>> flag("causal", True)
    True
    """
    value = _own(value)
    if not isinstance(value, bool):
        raise ValueError(f"{name} is {value!r}: it must be True or False")
    return value


def text(name: str, value: Any) -> str:
    """A name.

    >>> text("attention", "R+V")
    'R+V'
    """
    if not isinstance(value, str):
        raise ValueError(f"{name} is {value!r}: it must be a name such as 'R+V'")
    return value


def option(name: str, value: Any) -> Option:
    """An option of a variant, of whichever of the four types; the layer knows which it wants.

    >>> option("rank", 4), option("tiling", "outer")
    (4, 'outer')
    """
    value = _own(value)
    if not isinstance(value, (bool, int, float, str)):
        raise ValueError(f"option '{name}' is {value!r}: it must be a number, True or False, or a name")
    return _within_64_bits(f"option '{name}'", value) if type(value) is int else value


def lengths(value: Any) -> Tensor:
    """How many positions of each sample count, as int64.

    >>> lengths([3, 5])
    tensor([3, 5])
    """
    tensor = value if torch.is_tensor(value) else torch.as_tensor(value)
    if tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool:
        raise ValueError(f"lengths has dtype {tensor.dtype}: it must hold whole numbers")
    return tensor.long()


def maybe_tensor(name: str, value: Any) -> Tensor | None:
    """A tensor or None.

    >>> maybe_tensor("mask", [[True]])
    Traceback (most recent call last):
    ValueError: mask is a list: it must be a tensor or None
    """
    if value is not None and not isinstance(value, Tensor):
        raise ValueError(f"{name} is a {type(value).__name__}: it must be a tensor or None")
    return value


def _own(value: Any) -> Any:
    """NumPy's and torch's scalars as Python's own."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


def _within_64_bits(name: str, value: int) -> int:
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{name} is {value}: it must fit into 64 bits")
    return value
