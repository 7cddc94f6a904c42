"""The attention layer as a torch.nn.Module, around the mixer written in C++."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from . import _C, values

State = _C.State


def variants() -> list[dict[str, Any]]:
    """Every synthesizing function: name, short, tokens, sample, interacts, parameters (a formula).

    >>> [v["short"] for v in variants()]
    ['V', 'D', 'R', 'Fix', 'FR', 'FD']
    """
    return _C.variants()


def baselines() -> list[dict[str, Any]]:
    """The baselines of the paper: name, help, causal (whether it can be), parameters, options.

    >>> [r["name"] for r in baselines()]
    ['light-conv', 'dynamic-conv', 'linformer']
    >>> baselines()[0]["options"]
    ['kernel', 'groups']
    """
    return _C.baselines()


class Attention(nn.Module):
    """Multi-head attention: any variant of the paper, a mixture of variants, or a baseline.

    Args:
        attention: a variant ("V", "dense", …, see :func:`variants`), a mixture ("R+V") or a baseline
            ("light-conv", …, see :func:`baselines`; with its size behind a colon, "light-conv:15").
        width: model width D; must be divisible by ``heads``.
        heads: number of heads H.
        max_length: longest length N the layer is built for.
        causal: position i sees positions 0 … i only; never for "linformer".
        dropout: on the attention weights, or on the taps of a convolution, in training.
        bias: biases of the projections of input and output (value, glu, output).
        **options: of the members: ``hidden``, ``share_heads`` (D), ``init_std`` (R, Fix, FR), ``rank`` (FR),
            ``hidden``, ``a``, ``b``, ``tiling`` (FD), ``weights`` (mixtures); of the baselines: ``kernel``,
            ``groups`` (light-conv, dynamic-conv), ``rank``, ``share_heads``, ``share_kv`` (linformer).

    >>> a = Attention("FR", width=32, heads=4, max_length=16, rank=2)
    >>> sorted(a.state_dict())
    ['logits.FR.left', 'logits.FR.right', 'output.weight', 'value.weight']
    >>> y, p = a(torch.randn(3, 5, 32), need_weights=True)
    >>> y.shape, p.shape
    (torch.Size([3, 5, 32]), torch.Size([1, 4, 5, 5]))
    >>> sorted(Attention("light-conv", width=32, heads=4, max_length=16, kernel=5).state_dict())
    ['glu.weight', 'kernel.weight', 'output.weight']
    """

    def __init__(
        self,
        attention: str = "V",
        width: int = 512,
        heads: int = 8,
        max_length: int = 256,
        causal: bool = False,
        dropout: float = 0.0,
        bias: bool = False,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        **options: values.Option,
    ) -> None:
        super().__init__()
        self._mixer = _C.Mixer(
            values.text("attention", attention),
            values.integer("width", width),
            values.integer("heads", heads),
            values.integer("max_length", max_length),
            values.flag("causal", causal),
            values.real("dropout", dropout),
            values.flag("bias", bias),
            {name: values.option(name, value) for name, value in options.items()},
        )
        self._description = self._mixer.description  # what operators know the layer by
        device = torch.get_default_device() if device is None else device
        dtype = torch.get_default_dtype() if dtype is None else dtype
        self._places: list[tuple[list[str], str]] = []  # ["logits", "V", "query"], "weight"
        for parameter, tensor in zip(self._mixer.parameters, self._mixer.initialise()):
            *path, name = parameter.name.split(".")
            self._places.append((path, name))
            _put(self, path, name, tensor.to(device=device, dtype=dtype), parameter.trained)

    def forward(
        self,
        x: Tensor,
        lengths: Tensor | None = None,
        bias: Tensor | None = None,
        mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Attends over x (B×L×D, any L ≤ max_length), giving B×L×D.

        lengths: how many positions of each sample count (B, integers); the rest is padding on the right:
            padded columns get no weight, padded rows of the result are 0.
        bias: added to the logits: H×L×L for all samples, or B×H×L×L; of the dtype of x, with gradients.
        mask: what may be seen: boolean (True: may be seen), or numbers that are added to the logits
            (-infinity: may not be seen); L×L, B×L×L or B×H×L×L. It applies beside ``causal`` and lengths. A
            row in which nothing may be seen is 0, as padded rows are.
        need_weights: also return the weights, without dropout: B×H×L×L, or 1×H×L×L where they depend on no
            token, no lengths are given, and no bias or mask for each sample. Slow, for inspection. An error
            for baselines, which have none (and take no bias and no mask).

        Works inside ``torch.compile(fullgraph=True)`` and ``torch.export.export``, for any batch and length.
        ``torch.func`` transforms are refused: the kernels' gradients are those of ``torch.autograd``.

        >>> a = Attention("D", width=8, heads=2, max_length=6)
        >>> y = a(torch.randn(2, 6, 8), lengths=torch.tensor([6, 3]))
        >>> y[1, 3:].abs().max().item()
        0.0
        """
        if lengths is not None:
            lengths = values.lengths(lengths)
        bias, mask = values.maybe_tensor("bias", bias), values.maybe_tensor("mask", mask)
        if not torch.compiler.is_compiling() and torch._C._are_functorch_transforms_active():
            raise RuntimeError(
                "torch.func transforms (grad, vmap, jacrev, …) do not work on Attention, whose kernels have "
                "gradients of torch.autograd: use torch.autograd.grad or backward()"
            )
        what = (self._description, self._tensors(), x, lengths, bias, mask)
        if not need_weights:
            return torch.ops.synthesizer.attention_layer(*what, self.training)
        weights = torch.ops.synthesizer.attention_layer_weights(*what)  # first: not every layer has them
        return torch.ops.synthesizer.attention_layer(*what, self.training), weights

    def start(self, batch: int) -> State:
        """An empty state for decoding a batch step by step; causal layers only.

        >>> a = Attention("R+V", width=8, heads=2, max_length=4, causal=True)
        >>> x, s = torch.randn(2, 4, 8), a.start(batch=2)
        >>> rows = []
        >>> for t in range(4):
        ...     y_t, s = a.step(x[:, t], s)
        ...     rows.append(y_t)
        >>> torch.allclose(torch.stack(rows, 1), a(x), atol=1e-5)
        True
        """
        return self._mixer.start(values.integer("batch", batch))

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """One position: x is B×D, the result the row of ``forward``. The state is updated and returned.

        No gradients, no dropout. ``state.reorder(indices)`` follows beams, ``state.copy()`` branches.

        >>> a = Attention("V", width=8, heads=2, max_length=4, causal=True)
        >>> y, s = a.step(torch.randn(3, 8), a.start(batch=3))
        >>> s.reorder(torch.tensor([2, 0]))
        >>> y.shape, s.batch, s.position
        (torch.Size([3, 8]), 2, 1)
        """
        return self._mixer.step(self._tensors(), x, state), state

    def grow(self, max_length: int) -> Attention:
        """Increases max_length in place. Trained values are kept; new entries are initialised.

        Parameters whose shape changes are replaced by new ones, without gradients: make optimizers anew
        afterwards. The others stay the same objects. Results of earlier calls keep the old ones; their
        backward pass works, and its gradients go to the old parameters.

        >>> a = Attention("R", width=8, heads=2, max_length=4)
        >>> a.grow(6)(torch.randn(1, 6, 8)).shape
        torch.Size([1, 6, 8])
        """
        larger, tensors = self._mixer.grown(values.integer("max_length", max_length)), self._tensors()
        for tensor, grown, (path, name) in zip(tensors, self._mixer.grow(tensors, larger), self._places):
            tensor.grad = None
            if grown.shape == tensor.shape:
                continue
            # A new tensor: the graph of an earlier result may need the old one as it was.
            trained = isinstance(tensor, nn.Parameter)
            _put(self, path, name, grown, trained)
            if trained:
                self.get_parameter(".".join([*path, name])).requires_grad_(tensor.requires_grad)
        self._mixer, self._description = larger, larger.description
        return self

    def count(self, length: int | None = None) -> dict[str, int]:
        """Trained parameters of the synthesis and in total, and multiply-adds of one sequence of that length.

        >>> Attention("V", width=8, heads=2, max_length=4).count()
        {'synthesis': 128, 'total': 256, 'macs': 1280}
        """
        count = self._mixer.count(self.max_length if length is None else values.integer("length", length))
        return {"synthesis": count.synthesis, "total": count.total, "macs": count.macs}

    def reset_parameters(self) -> None:
        """Draws everything anew, Fix's table too; what ``to_empty`` left without values gets them.

        >>> a = Attention("R", width=8, heads=2, max_length=4, device="meta").to_empty(device="cpu")
        >>> a.reset_parameters()
        """
        with torch.no_grad():
            for tensor, drawn in zip(self._tensors(), self._mixer.initialise()):
                tensor.copy_(drawn)

    def prepare(self) -> PreparedAttention:
        """The layer as it is now, made ready for inference: an immutable object that is faster to call.

        Packed weights, and ready attention weights where they depend on no token (R, Fix, FR) and the layer
        is causal. It does not change when the layer does, gives no gradients, and threads may share it.
        float32 on the CPU only.

        >>> a = Attention("R", width=8, heads=2, max_length=4, causal=True).eval()
        >>> p, x = a.prepare(), torch.randn(2, 4, 8)
        >>> torch.allclose(p(x), a(x), atol=1e-5)
        True
        """
        return PreparedAttention(self._mixer, [tensor.detach().clone() for tensor in self._tensors()])

    @property
    def attention(self) -> str:
        """What the layer was made with, as the other properties here."""
        return self._mixer.attention

    @property
    def width(self) -> int:
        return self._mixer.width

    @property
    def heads(self) -> int:
        return self._mixer.heads

    @property
    def max_length(self) -> int:
        return self._mixer.max_length

    @property
    def causal(self) -> bool:
        return self._mixer.causal

    @property
    def dropout(self) -> float:
        return self._mixer.dropout

    @property
    def bias(self) -> bool:
        return self._mixer.bias

    @property
    def options(self) -> dict[str, values.Option]:
        """The options of the members that were given.

        >>> Attention("FR", width=8, heads=2, max_length=4, rank=2).options
        {'rank': 2}
        """
        return self._mixer.options

    def extra_repr(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return (
            f"{self._mixer.spec!r}, width={self.width}, heads={self.heads}, max_length={self.max_length}, "
            f"causal={self.causal}, dropout={self.dropout}, bias={self.bias}{options}"
        )

    def _tensors(self) -> list[Tensor]:
        # Looked up by name with every call: whatever replaced a parameter or a submodule (functional_call,
        # parametrizations, load_state_dict(assign=True), a replica) is what the mixer sees.
        tensors = []
        for path, name in self._places:
            owner: nn.Module = self
            for part in path:
                owner = owner._modules[part]
            tensor = owner._parameters.get(name)  # where most are; getattr finds all, but takes longer
            tensors.append(getattr(owner, name) if tensor is None else tensor)
        return tensors


class PreparedAttention:
    """An :class:`Attention` made ready for inference by :meth:`Attention.prepare`; nothing in it changes.

    >>> p = Attention("FR", width=8, heads=2, max_length=4, causal=True).prepare()
    >>> p(torch.randn(2, 3, 8)).shape
    torch.Size([2, 3, 8])
    """

    def __init__(self, mixer: _C.Mixer, tensors: list[Tensor]) -> None:
        self._mixer, self._weights = mixer, mixer.prepare(tensors)

    def __call__(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        """As the layer itself in ``eval()``, without gradients: x that wants them is refused.

        >>> p = Attention("V", width=8, heads=2, max_length=4).prepare()
        >>> p(torch.randn(2, 3, 8, requires_grad=True))
        Traceback (most recent call last):
            ...
        ValueError: a layer prepared for inference gives no gradients: use the layer that it was made from
        """
        if x.requires_grad and torch.is_grad_enabled():
            raise ValueError(
                "a layer prepared for inference gives no gradients: use the layer that it was made from"
            )
        if lengths is not None:
            lengths = values.lengths(lengths)
        return self._mixer.forward_prepared(self._weights, x, lengths)

    def start(self, batch: int) -> State:
        """See :meth:`Attention.start`."""
        return self._mixer.start(values.integer("batch", batch))

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """See :meth:`Attention.step`."""
        return self._mixer.step_prepared(self._weights, x, state), state


def _put(root: nn.Module, path: list[str], name: str, tensor: Tensor, trained: bool) -> None:
    """Registers a tensor below root, making the submodules on the way."""
    for part in path:
        if part not in root._modules:
            root.add_module(part, nn.Module())
        root = root._modules[part]
    if trained:
        root.register_parameter(name, nn.Parameter(tensor))
    else:
        root.register_buffer(name, tensor)
