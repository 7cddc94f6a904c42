"""What a caller adds to the logits and hides of them, against the formulas in float64."""

import math

import pytest
import torch
from torch.func import functional_call

import reference
from cases import HEADS, SPECS, WIDTH, close, layer, name, wide

BATCH, LENGTH = 3, 11


def wanted(a, state, x, lengths=None, bias=None, mask=None):
    """Result and weights, as plainly as can be; `mask` may be boolean or numbers."""
    s = reference.logits(state, x, a.heads)
    if bias is not None:
        s = s + bias
    length = x.size(1)
    i, j = torch.arange(length)[:, None], torch.arange(length)[None, :]
    seen = (j <= i if a.causal else torch.ones(length, length, dtype=torch.bool)).expand(s.shape)
    if lengths is not None:
        n = lengths[:, None, None, None]
        seen = seen & (j < n) & (i < n)
    if mask is not None:
        whole = {2: lambda m: m, 3: lambda m: m[:, None], 4: lambda m: m}[mask.dim()](mask)
        if mask.dtype == torch.bool:
            seen = seen & whole
        else:
            seen = seen & (whole > -math.inf)
            s = s + torch.where(whole > -math.inf, whole, 0)
    e = torch.where(seen, torch.exp(s - s.amax(-1, keepdim=True).detach()), 0.0)
    total = e.sum(-1, keepdim=True)
    p = e / torch.where(total > 0, total, 1.0)
    v = torch.stack(
        (x @ state["value.weight"].T + state.get("value.bias", 0)).split(x.size(2) // a.heads, -1), 1
    )
    y = torch.einsum("bhlm,bhmc->blhc", p, v).reshape(x.shape) @ state["output.weight"].T
    if "output.bias" in state:  # not for rows in which no head sees anything
        y = y + state["output.bias"] * (total > 0).any(1)
    return y, p


def some_mask(kind, boolean, dtype):
    """About half may be seen, and in some rows nothing."""
    shape = {"LL": (LENGTH, LENGTH), "BLL": (BATCH, LENGTH, LENGTH), "BHLL": (BATCH, HEADS, LENGTH, LENGTH)}[
        kind
    ]
    generator = torch.Generator().manual_seed(3)
    seen = torch.rand(shape, generator=generator) < 0.5
    seen[..., 4, :] = False
    seen[..., 0, 0] = False  # the only column that row 0 sees under a causal mask
    seen[..., 7, :6], seen[..., 7, 6:] = False, True  # nothing within the shortest length
    if boolean:
        return seen
    numbers = torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)
    return numbers.masked_fill(~seen, -math.inf)


def some_bias(kind, dtype):
    shape = (HEADS, LENGTH, LENGTH) if kind == "HLL" else (BATCH, HEADS, LENGTH, LENGTH)
    return torch.randn(shape, generator=torch.Generator().manual_seed(5), dtype=torch.float64).to(dtype)


def compare(a, x, lengths, bias, mask):
    """Result, weights and all gradients."""
    dtype = x.dtype
    a.zero_grad()
    x = x.detach().requires_grad_()
    state, wide_x = wide(a), x.detach().double().requires_grad_()
    wide_bias = None
    if bias is not None:
        bias, wide_bias = bias.requires_grad_(), bias.detach().double().requires_grad_()
    wide_mask = mask if mask is None or mask.dtype == torch.bool else mask.double()
    y, p = a(x, lengths=lengths, bias=bias, mask=mask, need_weights=True)
    wanted_y, wanted_p = wanted(a, state, wide_x, lengths, wide_bias, wide_mask)
    close(y, wanted_y, dtype)
    close(p.expand(wanted_p.shape), wanted_p, dtype)
    close(a(x, lengths=lengths, bias=bias, mask=mask), wanted_y, dtype)
    grad = torch.randn(y.shape, generator=torch.Generator().manual_seed(7)).to(dtype)
    y.backward(grad)
    wanted_y.backward(grad.double())
    close(x.grad, wide_x.grad, dtype, scale=2)
    if bias is not None:
        close(bias.grad, wide_bias.grad, dtype, scale=2)
    for key, parameter in a.named_parameters():
        close(parameter.grad, state[key].grad, dtype, scale=2)


LENGTHS = [None, torch.tensor([LENGTH, 6, 0])]


@pytest.mark.parametrize("lengths", LENGTHS, ids=["full", "padded"])
@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
@pytest.mark.parametrize("bias", [None, "HLL", "BHLL"])
@pytest.mark.parametrize("mask", [None, "LL", "BLL", "BHLL"])
@pytest.mark.parametrize("spec", ["R+V", "FR"])
def test_every_shape(spec, mask, bias, causal, lengths):
    a = layer(spec, causal=causal, bias=True)
    x = torch.randn(BATCH, LENGTH, WIDTH)
    for boolean in [True, False][: 2 if mask else 1]:
        given = some_mask(mask, boolean, x.dtype) if mask else None
        compare(a, x, lengths, bias and some_bias(bias, x.dtype), given)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=name)
@pytest.mark.parametrize("spec", SPECS)
def test_every_attention(spec, dtype):
    a, x = layer(spec, causal=True, dtype=dtype), torch.randn(BATCH, LENGTH, WIDTH).to(dtype)
    lengths = LENGTHS[1]
    compare(a, x, lengths, some_bias("BHLL", dtype), some_mask("BLL", True, dtype))
    compare(a, x, lengths, some_bias("HLL", dtype), some_mask("LL", False, dtype))


@pytest.mark.parametrize("spec", ["V", "R", "D+FR"])
def test_longer_than_a_block(spec, two_threads):
    # Whole blocks of columns are hidden: all before column 520, and in other rows all after column 3.
    length = 600
    a = layer(spec, max_length=length, width=16, heads=1)
    mask = torch.ones(length, length, dtype=torch.bool)
    mask[:300, :520], mask[300:, 3:] = False, False
    x = torch.randn(2, length, 16)
    compare(a, x, None, None, mask)
    compare(a, x, torch.tensor([600, 550]), torch.randn(2, 1, length, length), mask.expand(2, -1, -1))


@pytest.mark.parametrize("mask", [None, "LL", "BHLL"])
@pytest.mark.parametrize("bias", ["HLL", "BHLL"])
@pytest.mark.parametrize("spec", ["V", "R", "D", "FR", "FD", "R+V"])
def test_gradients_of_finite_differences(spec, bias, mask):
    torch.manual_seed(2)
    batch, heads, length = 2, 2, 4
    a = layer(spec, width=4, heads=heads, max_length=5, causal=True, dtype=torch.float64)
    seen = None
    if mask:
        seen = torch.rand((length, length) if mask == "LL" else (batch, heads, length, length)) < 0.6
        seen[..., 2, :] = False
    bias = torch.randn((heads, length, length) if bias == "HLL" else (batch, heads, length, length))
    names, parameters = zip(*a.named_parameters())

    def call(x, bias, *tensors):
        given = {"bias": bias, "mask": seen, "lengths": torch.tensor([4, 3])}
        return functional_call(a, dict(zip(names, tensors)), (x,), given)

    x = torch.randn(batch, length, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(call, (x, bias.double().requires_grad_(), *parameters), fast_mode=True)


def test_rows_that_see_nothing_are_zero():
    for spec in ["V", "R"]:
        a, x = layer(spec, bias=True), torch.randn(2, 5, WIDTH, requires_grad=True)
        mask = torch.ones(5, 5, dtype=torch.bool)
        mask[3] = False
        y, p = a(x, mask=mask, need_weights=True)
        assert y[:, 3].abs().max() == 0 and p[:, :, 3].abs().max() == 0 and y[:, 2].abs().max() > 0
        assert torch.equal(y[:, 3], a(x, lengths=torch.tensor([3, 3]))[:, 3])  # as padded rows are
        y.sum().backward()
        assert torch.isfinite(x.grad).all()
        nothing = a(x, mask=torch.zeros(2, 5, 5, dtype=torch.bool))
        assert nothing.abs().max() == 0


def test_weights_of_shared_masks_stay_shared():
    a = layer("R")
    x = torch.randn(2, 5, WIDTH)
    mask = torch.ones(5, 5).tril().bool()
    assert a(x, mask=mask, need_weights=True)[1].shape == (1, HEADS, 5, 5)
    assert a(x, mask=mask.expand(2, 5, 5), need_weights=True)[1].shape == (2, HEADS, 5, 5)
    causal = layer("R", causal=True)
    causal.load_state_dict(a.state_dict())
    torch.testing.assert_close(a(x, mask=mask), causal(x))


def test_dropout_is_the_same_mask_backward():
    a = layer("R+V", causal=True, dropout=0.4, dtype=torch.float64, width=4, heads=2, max_length=5).train()
    bias = torch.randn(2, 2, 4, 4, dtype=torch.float64, requires_grad=True)

    def call(x, bias):
        torch.manual_seed(3)
        return a(x, bias=bias)

    x = torch.randn(2, 4, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(call, (x, bias))


def test_autocast():
    a, x = layer("R+V"), torch.randn(2, 5, WIDTH)
    bias, mask = torch.randn(2, HEADS, 5, 5), torch.rand(5, 5) < 0.7
    with torch.autocast("cpu", torch.bfloat16):
        y = a(x, bias=bias, mask=mask)
    assert y.dtype == torch.bfloat16
    torch.testing.assert_close(y.float(), a(x, bias=bias, mask=mask), atol=5e-2, rtol=5e-2)


ONES = torch.ones(2, HEADS, 5, 5)


@pytest.mark.parametrize(
    "given, message",
    [
        (
            {"bias": ONES[0, 0]},
            r"bias has shape 5×5 for x of 2×5×24 and 3 heads: it must be heads×length×length",
        ),
        ({"bias": ONES[:, :2]}, "bias has shape 2×2×5×5"),
        ({"bias": ONES[:1]}, "bias has shape 1×3×5×5"),
        ({"bias": ONES.double()}, "bias has dtype Double and x Float: it must be that of x"),
        ({"bias": ONES.bool()}, "bias has dtype Bool and x Float"),
        ({"bias": True}, "bias is a bool: it must be a tensor or None"),
        ({"mask": [[True]]}, "mask is a list: it must be a tensor or None"),
        ({"mask": ONES[0, 0, :4].bool()}, "mask has shape 4×5 .* length×length, batch×length×length or"),
        ({"mask": ONES[:, :2].bool()}, "mask has shape 2×2×5×5"),
        (
            {"mask": ONES[0, 0].long()},
            r"mask has dtype Long and x Float: it must be boolean \(True: may be seen\)",
        ),
        ({"mask": ONES[0, 0].bfloat16()}, "mask has dtype BFloat16 and x Float"),
    ],
)
def test_mistakes(given, message):
    a = layer("R+V")
    for need_weights in (False, True):
        with pytest.raises(ValueError, match=message):
            a(torch.randn(2, 5, WIDTH), need_weights=need_weights, **given)


@pytest.mark.parametrize("spec", ["light-conv", "dynamic-conv", "linformer"])
def test_baselines_have_no_logits(spec):
    a = layer(spec)
    for given in ({"bias": ONES}, {"mask": ONES.bool()}):
        with pytest.raises(ValueError, match=f"{spec} has no logits to add a bias or a mask to"):
            a(torch.randn(2, 5, WIDTH), **given)
