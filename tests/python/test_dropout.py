"""Dropout: on the weights, in training alone, reproducible, and right on average."""

import pytest
import torch

from cases import GLOBAL, SPECS, WIDTH, close, layer

X = torch.randn(2, 9, WIDTH, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("spec", SPECS)
def test_seed_reproduces_results_and_gradients(spec):
    a = layer(spec, dropout=0.3, causal=True).train()

    def run(seed):
        torch.manual_seed(seed)
        y = a(X)
        return y, *torch.autograd.grad(y.square().sum(), list(a.parameters()))

    for first, second in zip(run(5), run(5)):
        assert torch.equal(first, second)
    assert not torch.equal(run(5)[0], run(6)[0])


@pytest.mark.parametrize("spec", SPECS)
def test_none_in_eval(spec):
    a, plain = layer(spec, dropout=0.5), layer(spec)
    assert not torch.equal(a(X), plain(X))
    assert torch.equal(a.eval()(X), plain(X))
    with torch.no_grad():
        close(a(X), plain.train()(X), torch.float32)


@pytest.mark.parametrize("grad", [True, False], ids=["grad", "no_grad"])
@pytest.mark.parametrize("spec", ["V", "D", "R", "FD", "R+V"])
def test_mean_is_the_result_without(spec, grad):
    a = layer(spec, dropout=0.25, causal=True, max_length=9)
    x = X[:1].expand(200, -1, -1)  # each sample has its own mask, unless the weights are global
    with torch.set_grad_enabled(grad):
        rounds = 2000 if spec in GLOBAL else 10
        total = sum(a(x[:1] if spec in GLOBAL else x).detach().mean(0) for _ in range(rounds))
    wanted = a.eval()(X[:1])[0]
    assert (total / rounds - wanted).abs().max() < 0.12 * wanted.abs().max()


@pytest.mark.parametrize("spec, shared", [("V", False), ("R+V", False), ("R", True), ("FR", True)])
def test_one_mask_for_all_where_weights_are_global(spec, shared):
    a = layer(spec, dropout=0.5)
    y = a(X[:1].expand(2, -1, -1))
    assert torch.equal(y[0], y[1]) == shared


def test_returned_weights_have_none():
    a = layer("R+V", dropout=0.5)
    assert torch.equal(a(X, need_weights=True)[1], a.eval()(X, need_weights=True)[1])
