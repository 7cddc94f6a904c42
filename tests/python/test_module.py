"""The layer as a torch.nn.Module among others: loading, copying, moving, replacing parameters, training."""

import copy
import io
import pickle

import pytest
import torch
from torch import nn
from torch.func import functional_call

import synthesizer
from cases import LONGEST, SPECS, WIDTH, layer, name

X = torch.randn(2, 11, WIDTH, generator=torch.Generator().manual_seed(1))


def saved_and_loaded(module):
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


@pytest.mark.parametrize("assign", [False, True], ids=["copy", "assign"])
@pytest.mark.parametrize("spec", SPECS)
def test_load_state_dict(spec, assign):
    a, b = layer(spec, seed=1), layer(spec, seed=2)
    assert not torch.equal(a(X), b(X))
    file = io.BytesIO()
    torch.save(a.state_dict(), file)
    file.seek(0)
    b.load_state_dict(torch.load(file, weights_only=True), assign=assign)
    assert torch.equal(a(X), b(X))


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a)), saved_and_loaded],
    ids=["deepcopy", "pickle", "torch.save"],
)
@pytest.mark.parametrize("spec", SPECS)
def test_copies_are_equal_and_independent(spec, copied):
    a = layer(spec, causal=True, dropout=0.2, init_std=0.7) if "R" in spec else layer(spec, causal=True)
    a.eval()
    b = copied(a)
    before = a(X)
    assert repr(a) == repr(b) and not b.training and torch.equal(before, b(X))
    with torch.no_grad():
        for parameter in b.parameters():
            parameter.mul_(2)
    assert torch.equal(a(X), before) and not torch.equal(b(X), before)


def test_shallow_copy_shares_parameters():
    a = layer("R+V")
    b = copy.copy(a)
    assert b.value.weight is a.value.weight and torch.equal(a(X), b(X))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16], ids=name)
def test_to_dtype(dtype):
    a = layer("D+FR+V").to(dtype)
    assert {tensor.dtype for tensor in a.state_dict().values()} == {dtype}
    assert a(X.to(dtype)).dtype == dtype


def test_meta_and_to_empty():
    a = layer("Fix+V")
    b = copy.deepcopy(a).to("meta")
    y, p = b(X.to("meta"), need_weights=True)
    assert y.is_meta and y.shape == X.shape and p.shape == (2, 3, 11, 11)
    b.to_empty(device="cpu").load_state_dict(a.state_dict())
    assert torch.equal(a(X), b(X))


def test_made_on_a_device():
    for made in (synthesizer.Attention("R", 8, 2, 4, device="meta"), on_meta()):
        assert all(tensor.is_meta for tensor in made.state_dict().values())
        made.to_empty(device="cpu").reset_parameters()
        assert made(torch.randn(1, 4, 8)).isfinite().all()


def on_meta():
    with torch.device("meta"):
        return synthesizer.Attention("Fix+V", 8, 2, 4)


def test_reset_parameters_is_the_start():
    torch.manual_seed(5)
    a = synthesizer.Attention("Fix+D", WIDTH, 3, LONGEST)
    b = layer("Fix+D")
    torch.manual_seed(5)
    b.reset_parameters()
    assert torch.equal(a(X), b(X))


def test_functional_call_uses_what_it_is_given():
    a, b = layer("R+V", seed=1), layer("R+V", seed=2)
    before = a(X)
    assert torch.equal(functional_call(a, b.state_dict(), (X,)), b(X))
    assert torch.equal(a(X), before)


def test_parametrization():
    class Zero(nn.Module):
        def forward(self, weight):
            return weight * 0

    a = layer("R")
    nn.utils.parametrize.register_parametrization(a.output, "weight", Zero())
    assert a(X).abs().max() == 0


def test_replaced_submodule_counts():
    a = layer("R")
    a.output = nn.Linear(WIDTH, WIDTH, bias=False)
    nn.init.zeros_(a.output.weight)
    assert a(X).abs().max() == 0


def test_settings_are_read_only():
    a = layer("R+V", causal=True, dropout=0.1, weights="sum")
    assert (a.attention, a.width, a.heads, a.max_length) == ("R+V", WIDTH, 3, LONGEST)
    assert (a.causal, a.dropout, a.bias, a.options) == (True, 0.1, False, {"weights": "sum"})
    with pytest.raises(AttributeError):
        a.causal = False


@pytest.mark.parametrize("spec", SPECS)
def test_training_changes_what_is_trained(spec):
    a = layer(spec, causal=True)
    before = copy.deepcopy(a.state_dict())
    optimizer = torch.optim.AdamW(a.parameters(), lr=0.1)
    a(X).square().mean().backward()
    optimizer.step()
    for key, tensor in a.state_dict().items():
        assert torch.equal(tensor, before[key]) == ("Fix" in key), key


def test_training_learns():
    a, target = layer("R", seed=1, causal=True), layer("R", seed=2, causal=True)
    optimizer = torch.optim.Adam(a.parameters(), lr=0.02)
    losses = []
    for _ in range(60):
        loss = (a(X) - target(X).detach()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]


@pytest.mark.parametrize("spec", SPECS)
def test_autocast(spec):
    a = layer(spec, causal=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y, p = a(X, lengths=[11, 6], need_weights=True)
    assert y.dtype == torch.bfloat16
    y.float().square().sum().backward()
    exact = copy.deepcopy(a)
    exact.zero_grad()
    wanted = exact(X, lengths=[11, 6])
    wanted.square().sum().backward()
    assert (y - wanted).abs().max() < 0.05 * wanted.abs().max()
    for ours, theirs in zip(a.parameters(), exact.parameters()):
        assert ours.grad.dtype == torch.float32
        assert (ours.grad - theirs.grad).abs().max() < 0.1 * theirs.grad.abs().max() + 1e-3
