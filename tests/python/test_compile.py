"""torch.compile and torch.export: one graph, and what it gives is what the layer gives."""

import subprocess
import sys

import pytest
import torch
from torch import nn

from cases import HEADS, SPECS, WIDTH, layer

BASELINES = [
    ("light-conv", {"kernel": 3}),
    ("light-conv", {"kernel": 3, "groups": WIDTH}),
    ("dynamic-conv", {"kernel": 3}),
    ("dynamic-conv", {"kernel": 3, "groups": WIDTH}),
    ("linformer", {"rank": 5}),
    ("linformer", {"rank": 5, "share_heads": False, "share_kv": True}),
]
OTHERS = [
    ("R+V", {"causal": True, "bias": True, "weights": "learned-per-head"}),
    ("D", {"causal": True, "share_heads": True}),
    ("FD", {"hidden": 0}),
]
CASES = [(spec, {}) for spec in SPECS] + OTHERS + BASELINES


class Everything(nn.ModuleList):
    """All cases side by side, so that one graph has them all: tracing is slow."""

    def __init__(self):
        super().__init__(layer(spec, **options) for spec, options in CASES)

    def forward(self, x, lengths):
        return [a(x, lengths) for a in self]


def gradients(model, results, x):
    total = sum(result.square().sum() for result in results)
    return torch.autograd.grad(total, [x, *model.parameters()])


def test_compiled_equals_eager():
    """Forward and gradients, for several shapes from one dynamic graph."""
    torch._dynamo.reset()
    every = Everything()
    compiled = torch.compile(every, backend="aot_eager", fullgraph=True, dynamic=True)
    names = ["x", *(name for name, _ in every.named_parameters())]
    for batch, length in ((2, 9), (3, 12)):
        x = torch.randn(batch, length, WIDTH, requires_grad=True)
        lengths = torch.arange(1, batch + 1) * 3
        ours, theirs = compiled(x, lengths), every(x, lengths)
        for case, first, second in zip(CASES, ours, theirs):
            assert torch.allclose(first, second, atol=1e-5), case
        slopes = zip(names, gradients(every, ours, x), gradients(every, theirs, x))
        for name, first, second in slopes:
            assert torch.allclose(first, second, rtol=1e-4, atol=1e-4), name


@pytest.mark.parametrize("spec", ["V", "R", "FD+V"])
def test_compiled_with_bias_mask_and_weights(spec):
    torch._dynamo.reset()
    a = layer(spec, causal=True)
    compiled = torch.compile(a, backend="aot_eager", fullgraph=True, dynamic=True)
    x = torch.randn(2, 9, WIDTH)
    bias = torch.randn(2, HEADS, 9, 9, requires_grad=True)
    mask = torch.rand(9, 9) < 0.6
    for given in ({"bias": bias}, {"mask": mask}, {"bias": bias[0], "mask": mask.expand(2, 9, 9)}):
        (ours, own), (theirs, their) = (f(x, need_weights=True, **given) for f in (compiled, a))
        torch.testing.assert_close(ours, theirs)
        torch.testing.assert_close(own, their)
    for f in (compiled, a):
        (f(x, bias=bias, mask=mask) ** 2).sum().backward()
    once = bias.grad.clone()
    bias.grad = None
    (a(x, bias=bias, mask=mask) ** 2).sum().backward()
    torch.testing.assert_close(once, 2 * bias.grad)


@pytest.mark.filterwarnings("ignore")
def test_inside_a_model_with_inductor():
    torch._dynamo.reset()
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), layer("R+V", causal=True), nn.ReLU())
    x = torch.randn(2, 9, WIDTH, requires_grad=True)
    compiled = torch.compile(model, fullgraph=True)
    torch.testing.assert_close(compiled(x), model(x))
    for first, second in zip(gradients(model, [compiled(x)], x), gradients(model, [model(x)], x)):
        torch.testing.assert_close(first, second)


@pytest.mark.parametrize("spec", ["V", "R", "linformer"])
def test_dropout_in_a_graph_is_drawn_anew(spec):
    torch._dynamo.reset()
    a = layer(spec, dropout=0.5).train()
    compiled = torch.compile(a, backend="aot_eager", fullgraph=True)
    x = torch.randn(2, 9, WIDTH, requires_grad=True)
    first, second = compiled(x), compiled(x)
    assert not torch.allclose(first, second)
    torch.manual_seed(5)
    third = compiled(x)
    torch.manual_seed(5)
    assert torch.equal(third, compiled(x))
    a.eval()
    torch.testing.assert_close(compiled(x), a(x))


def test_dropped_entries_are_those_of_the_forward_pass():
    """With one value per position the gradient of the values is that of the weights that were kept."""
    torch._dynamo.reset()
    a = layer("V", dropout=0.5, dtype=torch.float64).train()
    compiled = torch.compile(a, backend="aot_eager", fullgraph=True)
    x = torch.randn(2, 9, WIDTH, dtype=torch.float64)
    w = a.value.weight  # the result is linear in it
    torch.manual_seed(5)
    y = compiled(x)
    grad = torch.randn_like(y)
    (slope,) = torch.autograd.grad(y, w, grad)
    torch.testing.assert_close((slope * w).sum(), (y * grad).sum())


def test_operator_in_a_full_graph():
    torch._dynamo.reset()
    table, value = torch.randn(3, 5, 5, requires_grad=True), torch.randn(2, 3, 5, 4, requires_grad=True)

    def attend(table, value):
        nothing = (None, None, 1.0, None, None)
        rest = (None, None, True, 0.0, 0)
        return torch.ops.synthesizer.attend(*nothing, table * 2, None, None, False, value, *rest).relu()

    compiled = torch.compile(attend, backend="aot_eager", fullgraph=True, dynamic=True)
    torch.testing.assert_close(compiled(table, value), attend(table, value))
    for ours, theirs in zip(
        torch.autograd.grad(compiled(table, value).sum(), [table, value]),
        torch.autograd.grad(attend(table, value).sum(), [table, value]),
    ):
        torch.testing.assert_close(ours, theirs)


READ = """
import sys, torch, synthesizer
program = torch.export.load(sys.argv[1] + ".pt2").module()
for given, wanted in torch.load(sys.argv[1] + ".pt"):
    for ours, theirs in zip(program(*given), wanted, strict=True):
        torch.testing.assert_close(ours, theirs)
"""


def test_exported_programs_run_in_another_process(tmp_path):
    """Every case, with dynamic batch and length: saved, loaded in a fresh process, run with other shapes."""
    every = Everything().eval()
    batch, length = torch.export.Dim("batch"), torch.export.Dim("length", min=2, max=33)
    given = (torch.randn(2, 9, WIDTH), torch.tensor([9, 4]))
    program = torch.export.export(every, given, dynamic_shapes=({0: batch, 1: length}, {0: batch}))
    path = str(tmp_path / "every")
    torch.export.save(program, path + ".pt2")
    cases = [(torch.randn(b, n, WIDTH), torch.randint(0, n + 1, (b,))) for b, n in ((2, 9), (4, 33), (3, 2))]
    torch.save([(case, [y.detach() for y in every(*case)]) for case in cases], path + ".pt")
    done = subprocess.run([sys.executable, "-c", READ, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_exported_with_a_bias_and_a_mask():
    a = layer("R+V").eval()
    x, bias = torch.randn(2, 9, WIDTH), torch.randn(2, HEADS, 9, 9)
    mask = torch.rand(9, 9) < 0.6
    length = torch.export.Dim("length", min=2, max=33)
    dynamic = {
        "x": {1: length},
        "lengths": None,
        "bias": {2: length, 3: length},
        "mask": {0: length, 1: length},
    }
    program = torch.export.export(a, (x, None, bias, mask), dynamic_shapes=dynamic)
    x, bias, mask = torch.randn(2, 14, WIDTH), torch.randn(2, HEADS, 14, 14), torch.rand(14, 14) < 0.6
    torch.testing.assert_close(program.module()(x, None, bias, mask), a(x, None, bias, mask))


def test_too_long_for_an_exported_program_is_refused():
    a = layer("R").eval()
    length = torch.export.Dim("length", min=2, max=33)
    program = torch.export.export(a, (torch.randn(2, 9, WIDTH),), dynamic_shapes=({1: length},))
    with pytest.raises((RuntimeError, AssertionError)):
        program.module()(torch.randn(2, 34, WIDTH))


@pytest.mark.parametrize("spec", ["V", "light-conv"])
def test_func_grad_is_refused(spec):
    a = layer(spec)
    with pytest.raises(RuntimeError, match="torch.func"):
        torch.func.grad(lambda x: a(x).sum())(torch.randn(2, 5, WIDTH))
