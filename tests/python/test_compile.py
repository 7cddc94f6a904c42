"""Inside torch.compile the layer gives what it gives outside; it may break the graph."""

import pytest
import torch
from torch import nn

from cases import WIDTH, layer


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("spec", ["R", "R+V"])
def test_compiled_module(spec):
    torch._dynamo.reset()
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), layer(spec, causal=True), nn.ReLU())
    x = torch.randn(2, 9, WIDTH, requires_grad=True)
    compiled = torch.compile(model, backend="aot_eager")
    torch.testing.assert_close(compiled(x), model(x))
    first = torch.autograd.grad(compiled(x).square().sum(), [x, *model.parameters()])
    second = torch.autograd.grad(model(x).square().sum(), [x, *model.parameters()])
    for ours, theirs in zip(first, second):
        torch.testing.assert_close(ours, theirs)


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
