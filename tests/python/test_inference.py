"""Layers remember nothing between calls without gradients; prepared layers give the same and never change."""

import copy
import threading

import pytest
import torch

import synthesizer
from cases import GLOBAL, SPECS, WIDTH, close, layer

X = torch.randn(2, 13, WIDTH, generator=torch.Generator().manual_seed(1))
SPECS_WITH_GLOBAL_MIXTURES = [*GLOBAL, "R+FR", "Fix+R"]


def fresh(a, x):
    """What a layer that was never called gives."""
    return copy.deepcopy(a)(x).detach()


@pytest.mark.parametrize("lengths", [None, [13, 4]], ids=["full", "padded"])
@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
@pytest.mark.parametrize("spec", SPECS)
def test_no_grad_and_inference_mode_change_nothing(spec, causal, lengths):
    a = layer(spec, causal=causal)
    wanted = a(X, lengths=lengths)
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            for _ in range(2):
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


def write_data(a):
    """Past the version counters, as fused optimizers write."""
    for tensor in a.state_dict(keep_vars=True).values():
        tensor.data.add_(torch.randn_like(tensor))


CHANGES = [
    step,
    step_in_eval,
    load,
    lambda a: load(a, assign=True),
    write_in_place,
    replace_data,
    write_data,
    lambda a: a.reset_parameters(),
]


@pytest.mark.parametrize(
    "change",
    CHANGES,
    ids=["step", "step_in_eval", "load", "assign", "in_place", "replaced", "data", "reset"],
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
    b = copy.deepcopy(a)
    _, of_a = a.step(X[:, 0], a.start(2))
    _, of_b = b.step(X[:, 0], b.start(2))
    write_in_place(a)
    b.load_state_dict(a.state_dict())
    assert torch.equal(a.step(X[:, 1], of_a)[0], b.step(X[:, 1], of_b)[0])


def test_a_state_belongs_to_its_layer():
    a, b = layer("R", causal=True), layer("R", causal=True)
    with pytest.raises(ValueError, match="another layer"):
        b.step(X[:, 0], a.start(2))


def test_made_in_inference_mode():
    with torch.inference_mode():
        a = synthesizer.Attention("R", WIDTH, 3, 13)
        y = a(X)
        a.logits.R.table.mul_(3)
        assert not torch.allclose(a(X), y)


@pytest.mark.parametrize("lengths", [None, [13, 4]], ids=["full", "padded"])
@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
@pytest.mark.parametrize("spec", SPECS)
def test_a_prepared_layer_gives_what_the_layer_gives(spec, causal, lengths):
    a = layer(spec, causal=causal).eval()
    p = a.prepare()
    close(p(X, lengths=lengths), a(X, lengths=lengths), torch.float32)
    if causal:
        state = p.start(2)
        rows = [p.step(X[:, t], state)[0] for t in range(X.size(1))]
        close(torch.stack(rows, 1), a(X), torch.float32)


@pytest.mark.parametrize("spec", SPECS)
def test_a_prepared_layer_stays_as_it_was(spec):
    a = layer(spec, causal=True).eval()
    p = a.prepare()
    before = p(X)
    write_data(a)
    write_in_place(a)
    a.grow(40)
    assert torch.equal(p(X), before)


def test_a_prepared_layer_is_shared_by_threads():
    p = layer("R+V", causal=True).prepare()
    wanted, found = p(X), []
    threads = [threading.Thread(target=lambda: found.extend(p(X) for _ in range(20))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 160 and all(torch.equal(y, wanted) for y in found)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_only_float32_is_prepared(dtype):
    with pytest.raises(ValueError, match="float32"):
        layer("R").to(dtype).prepare()


def test_a_prepared_layer_gives_no_gradients():
    p = layer("V").prepare()
    with pytest.raises(ValueError, match="no gradients"):
        p(X.clone().requires_grad_())
    assert not p(X).requires_grad
