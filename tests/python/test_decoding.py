"""One position at a time gives the rows of the whole sequence."""

import copy

import pytest
import torch

from cases import LONGEST, OPTIONS, SPECS, WIDTH, close, layer, name


def decode(a, x, state=None):
    state = a.start(batch=x.size(0)) if state is None else state
    rows = []
    for t in range(x.size(1)):
        row, state = a.step(x[:, t], state)
        rows.append(row)
    return torch.stack(rows, 1), state


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=name)
@pytest.mark.parametrize("spec", SPECS)
def test_step_is_the_row_of_forward(spec, dtype):
    a = layer(spec, causal=True, dtype=dtype)
    x = torch.randn(2, LONGEST, WIDTH).to(dtype)
    rows, state = decode(a, x)
    close(rows, a(x), dtype)
    assert (state.batch, state.position) == (2, LONGEST)
    assert not rows.requires_grad


@pytest.mark.parametrize("spec, options", OPTIONS, ids=name)
def test_options(spec, options):
    a = layer(spec, causal=True, **options)
    x = torch.randn(3, 9, WIDTH)
    close(decode(a, x)[0], a(x), torch.float32)


@pytest.mark.parametrize("spec", SPECS)
def test_reorder_goes_on_from_other_beams(spec):
    a = layer(spec, causal=True).eval()
    x, indices = torch.randn(3, 12, WIDTH), torch.tensor([2, 0, 0, 1])
    _, state = decode(a, x[:, :7])
    state.reorder(indices)
    assert (state.batch, state.position) == (4, 7)
    beams = torch.cat([x[indices, :7], torch.randn(4, 5, WIDTH)], 1)
    close(decode(a, beams[:, 7:], state)[0], a(beams)[:, 7:], torch.float32)


@pytest.mark.parametrize(
    "branch", [lambda s: s.copy(), copy.copy, copy.deepcopy], ids=["own", "copy", "deepcopy"]
)
def test_branches_are_independent(branch):
    a = layer("R+V", causal=True)
    x, other = torch.randn(2, 8, WIDTH), torch.randn(2, 8, WIDTH)
    _, state = decode(a, x[:, :5])
    decode(a, other[:, 5:], branch(state))
    close(decode(a, x[:, 5:], state)[0], a(x)[:, 5:], torch.float32)


def test_no_dropout_and_no_gradients_in_training():
    a = layer("R+V", causal=True, dropout=0.5).train()
    x = torch.randn(2, 6, WIDTH)
    rows, _ = decode(a, x)
    close(rows, a.eval()(x), torch.float32)


def test_empty_batch():
    a = layer("R+V", causal=True)
    row, state = a.step(torch.randn(0, WIDTH), a.start(0))
    assert row.shape == (0, WIDTH) and state.position == 1
