"""A layer that makes room for longer sequences keeps what it knows."""

import pytest
import torch

from cases import LONGEST, OPTIONS, SPECS, WIDTH, close, layer, name

CASES = [(spec, {}) for spec in SPECS] + [
    (spec, options) for spec, options in OPTIONS if options.get("tiling") != "tile"
]


@pytest.mark.parametrize("spec, options", CASES, ids=name)
def test_grow(spec, options):
    a = layer(spec, **options)
    x = torch.randn(2, LONGEST, WIDTH)
    a(x).sum().backward()
    before, parameters, total = a(x).detach(), dict(a.named_parameters()), a.count()["total"]
    assert a.grow(50) is a and a.max_length == 50
    close(a(x), before, torch.float32)
    for key, parameter in a.named_parameters():
        assert parameter.grad is None
        assert (parameter is parameters[key]) == (parameter.shape == parameters[key].shape)
    assert a.count()["total"] == sum(parameter.numel() for parameter in a.parameters()) >= total
    longer = a(torch.randn(2, 50, WIDTH))
    assert longer.isfinite().all()
    longer.sum().backward()


def test_grow_follows_in_inference():
    a = layer("R", causal=True)
    x = torch.randn(1, 40, WIDTH)
    with torch.no_grad():
        before = a(x[:, :LONGEST])
        close(a.grow(40)(x)[:, :LONGEST], before, torch.float32)


def test_grow_to_the_same_length_changes_nothing():
    a = layer("V+D+R+Fix+FR+FD")
    x = torch.randn(2, LONGEST, WIDTH)
    before = a(x)
    assert torch.equal(a.grow(LONGEST)(x), before)


def test_grow_keeps_the_dtype():
    assert {t.dtype for t in layer("R+D", dtype=torch.float64).grow(40).state_dict().values()} == {
        torch.float64
    }


def test_grow_with_more_products_than_needed():
    a = layer("FD", a=4, b=20)
    x = torch.randn(2, LONGEST, WIDTH)
    before = a(x)
    close(a.grow(50)(x), before, torch.float32)


def test_grown_layer_loads_into_a_new_one():
    a, b = layer("FD+V").grow(50), layer("FD+V", max_length=50, seed=3, a=4)
    b.load_state_dict(a.state_dict())
    x = torch.randn(2, 50, WIDTH)
    assert torch.equal(a(x), b(x))


def test_shrinking_is_refused():
    a = layer("R")
    with pytest.raises(ValueError, match=f"max_length 5 is below the layer's {LONGEST}"):
        a.grow(5)
    assert a.max_length == LONGEST


@pytest.mark.parametrize("spec, options", CASES, ids=name)
def test_a_result_from_before_keeps_its_backward_pass(spec, options):
    a = layer(spec, **options)
    x = torch.randn(2, LONGEST, WIDTH, requires_grad=True)
    weights = torch.randn(2, LONGEST, WIDTH)
    parameters = dict(a.named_parameters())
    (a(x) * weights).sum().backward()
    wanted = {key: parameter.grad.clone() for key, parameter in parameters.items()}
    wanted_x, x.grad = x.grad.clone(), None
    a.zero_grad()
    held = (a(x) * weights).sum()
    a.grow(50)
    held.backward()
    close(x.grad, wanted_x, torch.float32)
    for key, parameter in parameters.items():
        close(parameter.grad, wanted[key], torch.float32)


def test_what_was_frozen_stays_frozen():
    a = layer("R+V")
    a.get_parameter("logits.R.table").requires_grad_(False)
    a.grow(50)
    assert not a.get_parameter("logits.R.table").requires_grad
    assert a.get_parameter("logits.V.query.weight").requires_grad
