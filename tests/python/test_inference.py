"""Without gradients, weights that depend on no token are kept between calls, as long as they are true."""

import copy

import pytest
import torch

import synthesizer
from cases import GLOBAL, SPECS, WIDTH, close, layer

X = torch.randn(2, 13, WIDTH, generator=torch.Generator().manual_seed(1))
SPECS_WITH_GLOBAL_MIXTURES = [*GLOBAL, "R+FR", "Fix+R"]


def fresh(a, x):
    """What a layer that has kept nothing gives."""
    return copy.deepcopy(a)(x).detach()


@pytest.mark.parametrize("lengths", [None, [13, 4]], ids=["full", "padded"])
@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
@pytest.mark.parametrize("spec", SPECS)
def test_no_grad_and_inference_mode_change_nothing(spec, causal, lengths):
    a = layer(spec, causal=causal)
    wanted = a(X, lengths=lengths)
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            for _ in range(2):  # made, and kept
                close(a(X, lengths=lengths), wanted, torch.float32)


@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
@pytest.mark.parametrize("spec", SPECS_WITH_GLOBAL_MIXTURES)
def test_lengths_may_change_from_call_to_call(spec, causal):
    a = layer(spec, causal=causal)
    with torch.no_grad():
        for length in (13, 1, 5, 6, 13, 12):
            close(a(X[:, :length]), fresh(a, X[:, :length]), torch.float32)


def step(a):
    a.train()
    optimizer = torch.optim.SGD(a.parameters(), lr=5.0)
    a(X).square().mean().backward()
    optimizer.step()


def step_in_eval(a):
    optimizer = torch.optim.SGD(a.parameters(), lr=5.0)
    a(X).square().mean().backward()
    optimizer.step()


def load(a, **how):
    state = {key: tensor + torch.randn_like(tensor) for key, tensor in a.state_dict().items()}
    a.load_state_dict(state, **how)


def write_in_place(a):
    with torch.no_grad():
        for tensor in a.state_dict().values():
            tensor.add_(torch.randn_like(tensor))


def replace_data(a):
    # Twice: the second may be given the memory of the one before the first.
    for _ in range(2):
        for tensor in a.state_dict(keep_vars=True).values():
            tensor.data = tensor.data + torch.randn_like(tensor)


def write_data_and_say_so(a):
    for tensor in a.state_dict(keep_vars=True).values():
        tensor.data.add_(torch.randn_like(tensor))
    a.eval()


CHANGES = [
    step,
    step_in_eval,
    load,
    lambda a: load(a, assign=True),
    write_in_place,
    replace_data,
    write_data_and_say_so,
    lambda a: a.reset_parameters(),
]


@pytest.mark.parametrize(
    "change",
    CHANGES,
    ids=["step", "step_in_eval", "load", "assign", "in_place", "data", "data_eval", "reset"],
)
@pytest.mark.parametrize("spec", SPECS_WITH_GLOBAL_MIXTURES)
def test_results_follow_the_parameters(spec, change):
    a = layer(spec, causal=True).eval()
    with torch.no_grad():
        before = a(X)
    change(a)
    with torch.no_grad():
        after = a(X)
    assert not torch.allclose(before, after)
    close(after, fresh(a, X), torch.float32)


def test_results_follow_functional_call():
    a, b = layer("R", seed=1), layer("R", seed=2)
    with torch.no_grad():
        a(X)
        assert torch.equal(torch.func.functional_call(a, b.state_dict(), (X,)), b(X))
        close(a(X), fresh(a, X), torch.float32)


def test_results_follow_the_dtype():
    a = layer("R", causal=True)
    with torch.no_grad():
        y = a(X)
        close(a.bfloat16()(X.bfloat16()), y, torch.bfloat16)
        close(a.double()(X.double()), y, torch.bfloat16)


@pytest.mark.parametrize("spec", SPECS_WITH_GLOBAL_MIXTURES)
def test_decoding_follows_the_parameters(spec):
    a = layer(spec, causal=True)
    _, state = a.step(X[:, 0], a.start(2))
    write_in_place(a)
    other = copy.deepcopy(a)
    kept, _ = a.step(X[:, 1], state.copy())
    made, _ = other.step(X[:, 1], state)
    assert torch.equal(kept, made)


def test_made_in_inference_mode():
    with torch.inference_mode():
        a = synthesizer.Attention("R", WIDTH, 3, 13)
        y = a(X)
        a.logits.R.table.mul_(3)
        assert not torch.allclose(a(X), y)
