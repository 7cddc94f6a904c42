"""torch.ops.synthesizer.convolve itself: what torch asks of an operator, and its gradients."""

import pytest
import torch

B, L, H, K, W = 2, 6, 3, 5, 4
CASES = {
    "shared": (H, W),
    "own": (B, L, H, W),
    "shared_of_each_channel": (H * K, W),
    "own_of_each_channel": (B, L, H * K, W),
    "own_by_tap": (B, L, H * K, W),  # the weights of one tap lie side by side
}


def arguments(case, dtype=torch.float32, grad=False, lengths=None, left=3):
    def tensor(*shape):
        return torch.randn(shape, dtype=torch.float64).to(dtype).requires_grad_(grad)

    lengths = None if lengths is None else torch.tensor(lengths)
    weight = tensor(*CASES[case])
    if case == "own_by_tap":
        weight = weight.detach().mT.contiguous().mT.requires_grad_(grad)
    return tensor(B, L, H * K), weight, lengths, left


@pytest.mark.parametrize("lengths", [None, [5, 0]], ids=["full", "padded"])
@pytest.mark.parametrize(
    "dtype, grad",
    [(torch.float32, False), (torch.float32, True), (torch.bfloat16, True), (torch.float64, True)],
    ids=["float32-plain", "float32", "bfloat16", "float64"],
)
@pytest.mark.parametrize("case", CASES)
def test_opcheck(case, dtype, grad, lengths):
    tolerance = {"atol": 2e-2, "rtol": 2e-2} if dtype == torch.bfloat16 else {}
    torch.library.opcheck(
        torch.ops.synthesizer.convolve.default, arguments(case, dtype, grad, lengths), **tolerance
    )


@pytest.mark.parametrize(
    "wanted", [[True, True], [True, False], [False, True]], ids=["both", "input", "weight"]
)
@pytest.mark.parametrize("case", CASES)
def test_opcheck_of_backward(case, wanted):
    given = arguments(case, lengths=[5, 0])
    grad = torch.randn(B, L, H * K)
    torch.library.opcheck(torch.ops.synthesizer.convolve_backward.default, (grad, *given, wanted))


@pytest.mark.parametrize("left", [0, 2, 3])
@pytest.mark.parametrize("case", CASES)
def test_gradients(case, left):
    x, w, lengths, left = arguments(case, torch.float64, True, [6, 4], left)
    assert torch.autograd.gradcheck(
        lambda x, w: torch.ops.synthesizer.convolve(x, w, lengths, left), (x, w), fast_mode=True
    )


@pytest.mark.parametrize("frozen", ["input", "weight"])
def test_only_what_is_wanted(frozen):
    x, w, lengths, left = arguments("own", grad=True)
    (x if frozen == "input" else w).requires_grad_(False)
    torch.ops.synthesizer.convolve(x, w, lengths, left).sum().backward()
    assert (x.grad is None) == (frozen == "input") and (w.grad is None) == (frozen == "weight")


def test_second_derivatives_are_refused():
    given = arguments("own", grad=True)
    (first,) = torch.autograd.grad(torch.ops.synthesizer.convolve(*given).sum(), given[0], create_graph=True)
    with pytest.raises(RuntimeError):
        torch.autograd.grad(first.sum(), given[1])


def test_bad_input():
    x, w, _, _ = arguments("shared")
    with pytest.raises(ValueError, match="left is 4: it must be from 0 to 3"):
        torch.ops.synthesizer.convolve(x, w, None, 4)
    with pytest.raises(ValueError, match="weight has dtype Double and input Float"):
        torch.ops.synthesizer.convolve(x, w.double(), None, 0)
