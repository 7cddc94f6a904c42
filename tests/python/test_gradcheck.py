"""Gradients of x and of every parameter against finite differences, in float64."""

import pytest
import torch
from torch.func import functional_call

from cases import MIXTURES, OPTIONS, VARIANTS, layer, name


def check(a, lengths=None, every_entry=False):
    names, parameters = zip(*a.named_parameters())
    x = torch.randn(2, 4, a.width, dtype=torch.float64)

    def call(x, *tensors):
        torch.manual_seed(3)  # one mask for all calls, where there is dropout
        return functional_call(a, dict(zip(names, tensors)), (x,), {"lengths": lengths})

    # Every entry by itself takes long; otherwise along a random direction, which is as unlikely to miss one.
    assert torch.autograd.gradcheck(call, (x.requires_grad_(), *parameters), fast_mode=not every_entry)


def small(spec, **options):
    return layer(spec, width=4, heads=2, max_length=5, dtype=torch.float64, **options)


@pytest.mark.parametrize("lengths", [None, torch.tensor([3, 0])], ids=["full", "padded"])
@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
@pytest.mark.parametrize("spec", VARIANTS)
def test_variants(spec, causal, lengths):
    check(small(spec, causal=causal), lengths)


@pytest.mark.parametrize("spec", VARIANTS)
def test_every_entry(spec):
    rank = {"rank": 2} if spec == "FR" else {}
    check(small(spec, causal=True, **rank), torch.tensor([4, 2]), every_entry=True)


@pytest.mark.parametrize("spec", MIXTURES)
def test_mixtures(spec):
    check(small(spec, causal=True), torch.tensor([4, 2]))


@pytest.mark.parametrize("spec, options", OPTIONS, ids=name)
def test_options(spec, options):
    check(small(spec, **options))


@pytest.mark.parametrize("spec", VARIANTS)
def test_dropout(spec):
    check(small(spec, causal=True, dropout=0.4).train(), torch.tensor([4, 3]))


def test_weights_are_differentiable():
    a = small("R+V")
    x = torch.randn(2, 4, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: a(x, need_weights=True)[1], (x,))
