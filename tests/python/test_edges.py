"""Nothing to attend to, nothing at all, and memory in any layout."""

import pytest
import torch

from cases import OPTIONS, SPECS, WIDTH, layer, name


@pytest.mark.parametrize("grad", [True, False], ids=["grad", "no_grad"])
@pytest.mark.parametrize("shape", [(0, 5), (2, 0), (0, 0)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=name)
@pytest.mark.parametrize("spec", SPECS)
def test_empty(spec, dtype, shape, grad):
    a = layer(spec, dtype=dtype, causal=True)
    x = torch.randn(*shape, WIDTH, dtype=dtype, requires_grad=True)
    with torch.set_grad_enabled(grad):
        y, p = a(x, lengths=torch.zeros(shape[0], dtype=torch.long), need_weights=True)
        assert a(x).shape == y.shape == x.shape and p.shape == (shape[0], 3, shape[1], shape[1])
    if grad:
        y.sum().backward()
        assert all(p.grad is None or not p.grad.any() for p in a.parameters())


@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=name)
@pytest.mark.parametrize("spec", SPECS)
def test_sample_of_length_0_gives_zeros(spec, dtype, causal):
    a = layer(spec, causal=causal, dtype=dtype, bias=True)
    x = torch.randn(2, 6, WIDTH, dtype=dtype, requires_grad=True)
    y, p = a(x, lengths=[0, 4], need_weights=True)
    assert not y[0].any() and not y[1, 4:].any() and y[1, :4].all()
    assert not p[0].any() and not p[1, :, 4:].any() and not p[1, :, :, 4:].any()
    y.square().sum().backward()
    assert not x.grad[0].any() and not x.grad[1, 4:].any() and x.grad.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in a.parameters())


@pytest.mark.parametrize("spec", SPECS)
def test_padding_may_hold_anything(spec):
    a = layer(spec)
    x = torch.randn(2, 6, WIDTH)
    other = x.clone()
    other[1, 4:] = 1e4
    assert torch.equal(a(x, lengths=[6, 4]), a(other, lengths=[6, 4]))


@pytest.mark.parametrize("spec, options", [(spec, {}) for spec in SPECS] + OPTIONS, ids=name)
def test_layout_of_x_does_not_matter(spec, options):
    a = layer(spec, **options)
    x = torch.randn(3, 10, WIDTH)
    wanted = a(x)
    big = torch.zeros(6, 23, 2 * WIDTH)
    big[::2, 2:22:2, WIDTH:] = x
    turned = x.transpose(0, 1).contiguous().transpose(0, 1)
    apart = x.permute(2, 1, 0).contiguous().permute(2, 1, 0)
    for same in (big[::2, 2:22:2, WIDTH:], turned, apart):
        assert not same.is_contiguous()
        torch.testing.assert_close(a(same), wanted)
    one = x[:1].expand(3, -1, -1)
    torch.testing.assert_close(a(one), a(one.contiguous()))


@pytest.mark.parametrize("spec", SPECS)
def test_layout_of_gradients_does_not_matter(spec):
    a = layer(spec)
    x = torch.randn(3, 10, WIDTH, requires_grad=True)
    grad = torch.randn(3, WIDTH, 10)
    (first,) = torch.autograd.grad(a(x), x, grad.mT)
    (second,) = torch.autograd.grad(a(x), x, grad.mT.contiguous())
    torch.testing.assert_close(first, second)
    (ones,) = torch.autograd.grad(a(x).sum(), x)  # an expanded number
    (same,) = torch.autograd.grad(a(x), x, torch.ones_like(x))
    torch.testing.assert_close(ones, same)


@pytest.mark.parametrize("given", [torch.int32, torch.int16, torch.uint8, torch.int64], ids=name)
def test_lengths_of_any_whole_type(given):
    a, x = layer("R+V"), torch.randn(2, 6, WIDTH)
    lengths = torch.tensor([6, 0, 4, 0], dtype=given)[::2]  # with gaps, too
    assert torch.equal(a(x, lengths=lengths), a(x, lengths=[6, 4]))


@pytest.mark.parametrize("lengths", [None, [5, 3]], ids=["full", "padded"])
@pytest.mark.parametrize("spec", SPECS)
def test_shape_of_weights(spec, lengths):
    a = layer(spec)
    _, p = a(torch.randn(2, 5, WIDTH), lengths=lengths, need_weights=True)
    alone = lengths is None and set(spec.split("+")) <= {"R", "Fix", "FR"}
    assert p.shape == (1 if alone else 2, 3, 5, 5)
    rows = p.sum(-1)[0]
    torch.testing.assert_close(rows, torch.ones_like(rows))
