"""Results and gradients of every variant and mixture against the formulas, in every precision."""

import pytest
import torch

import reference
from cases import LONGEST, MIXTURES, OPTIONS, SPECS, VARIANTS, WIDTH, close, layer, name, wide


def compare(a, x, lengths, tile=False):
    dtype = x.dtype
    x = x.detach().requires_grad_()
    state, wide_x = wide(a), x.detach().double().requires_grad_()
    y, p = a(x, lengths=lengths, need_weights=True)
    wanted_y, wanted_p = reference.attend(state, wide_x, a.heads, a.causal, lengths, tile)
    close(y, wanted_y, dtype)
    close(p.expand(wanted_p.shape), wanted_p, dtype)

    grad = torch.randn(y.shape, generator=torch.Generator().manual_seed(7)).to(dtype)
    y.backward(grad)
    wanted_y.backward(grad.double())
    close(x.grad, wide_x.grad, dtype, scale=2)
    for key, parameter in a.named_parameters():
        close(parameter.grad, state[key].grad, dtype, scale=2)


def some_lengths(batch, length):
    return torch.tensor([length, (length + 1) // 2, length // 3][:batch])


@pytest.mark.parametrize("length", [1, 2, 17, LONGEST])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=name)
@pytest.mark.parametrize("padded", [False, True], ids=["full", "padded"])
@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
@pytest.mark.parametrize("spec", SPECS)
def test_every_attention(spec, causal, padded, dtype, length):
    a = layer(spec, causal=causal, dtype=dtype)
    x = torch.randn(3, length, WIDTH).to(dtype)
    compare(a, x, some_lengths(3, length) if padded else None)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=name)
@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
@pytest.mark.parametrize("spec, options", OPTIONS, ids=name)
def test_every_option(spec, options, causal, dtype):
    a = layer(spec, causal=causal, dtype=dtype, **options)
    compare(a, torch.randn(3, 20, WIDTH).to(dtype), some_lengths(3, 20), options.get("tiling") == "tile")


@pytest.mark.parametrize(
    "spec, causal", [(v, True) for v in VARIANTS] + [("R+FR", False), (MIXTURES[-1], False)]
)
def test_longer_than_a_block(spec, causal, two_threads):
    # Long enough for several blocks of rows and columns in any kernel, and a multiple of none.
    a = layer(spec, causal=causal, max_length=550, width=16, heads=1)
    compare(a, torch.randn(2, 531, 16), torch.tensor([531, 150]))
