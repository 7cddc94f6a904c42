"""Mistakes are ValueErrors that name the value, what was allowed and the likely meaning."""

import numpy as np
import pytest
import torch

import synthesizer
from cases import LONGEST, WIDTH, layer


def made(spec="V", **options):
    return synthesizer.Attention(spec, **{"width": 8, "heads": 2, "max_length": 6, **options})


@pytest.mark.parametrize(
    "spec, options, message",
    [
        ("V", {"heads": 3}, "width 8 is not divisible by heads 3"),
        ("V", {"width": 0}, "width is 0: it must be at least 1"),
        ("V", {"heads": 0}, "heads is 0: it must be at least 1"),
        ("V", {"max_length": 0}, "max_length is 0: it must be at least 1"),
        ("V", {"width": 8.0}, "width is 8.0: it must be a whole number"),
        ("V", {"heads": "2"}, "heads is '2': it must be a whole number"),
        ("V", {"max_length": None}, "max_length is None: it must be a whole number"),
        ("V", {"width": 2**70}, "width is 1180591620717411303424: it must fit into 64 bits"),
        ("V", {"causal": "yes"}, "causal is 'yes': it must be True or False"),
        ("V", {"bias": 2}, "bias is 2: it must be True or False"),
        ("V", {"dropout": 1.0}, "dropout is 1: it must be at least 0 and below 1"),
        ("V", {"dropout": -0.1}, "dropout is -0.1: it must be at least 0 and below 1"),
        ("V", {"dropout": float("nan")}, "dropout is nan: it must be at least 0 and below 1"),
        ("V", {"dropout": "0.1"}, "dropout is '0.1': it must be a number"),
        (None, {}, "attention is None: it must be a name"),
        ("R+X", {}, r"unknown attention 'X'.*known: V, vanilla, D, dense"),
        ("vanila", {}, "unknown attention 'vanila', did you mean 'vanilla'?"),
        ("factorised-random", {}, "did you mean 'factorized-random'?"),
        ("", {}, "attention '' has an empty member"),
        ("R+", {}, r"attention 'R\+' has an empty member"),
        ("R+V+R", {}, r"attention 'R\+V\+R' names random twice"),
        ("R+random", {}, r"attention 'R\+random' names random twice"),
        (
            "FR",
            {"rnk": 3},
            r"attention FR has no option 'rnk', did you mean 'rank'\? \(it takes: rank, init_std\)",
        ),
        ("V", {"rank": 3}, r"attention V has no option 'rank' \(it takes: query_bias\)"),
        ("V", {"weights": "sum"}, "attention V has no option 'weights'"),
        ("FR", {"rank": 0}, "option 'rank' is 0: it must be at least 1"),
        ("FR", {"rank": -2}, "option 'rank' is -2: it must be at least 1"),
        ("FR", {"rank": "x"}, "option 'rank' is 'x': it must be a whole number"),
        ("FR", {"rank": 2.0}, "option 'rank' is 2.*: it must be a whole number"),
        ("FR", {"rank": True}, "option 'rank' is true: it must be a whole number"),
        ("FR", {"rank": None}, "option 'rank' is None: it must be a number, True or False, or a name"),
        ("FR", {"rank": [2]}, r"option 'rank' is \[2\]: it must be"),
        ("FR", {"rank": 2**64}, "option 'rank' is 18446744073709551616: it must fit into 64 bits"),
        ("FD", {"a": 0}, "option 'a' is 0: it must be at least 1"),
        ("FD", {"b": -1}, "option 'b' is -1: it must be at least 1"),
        ("FD", {"a": 2, "b": 2}, r"a = 2 and b = 2 give too few products: a·b must be at least max_length 6"),
        ("FD", {"tiling": "inner"}, "option 'tiling' is 'inner': it must be 'outer' or 'tile'"),
        ("D", {"hidden": -1}, "option 'hidden' is -1: it must be at least 0"),
        ("D", {"share_heads": 1}, "option 'share_heads' is 1: it must be true or false"),
        ("R", {"init_std": -1.0}, "option 'init_std' is -1.*: it must be a number of at least 0"),
        ("R", {"init_std": float("inf")}, "option 'init_std' is inf: it must be a number of at least 0"),
        (
            "R+V",
            {"weights": "mean"},
            "option 'weights' is 'mean': it must be 'learned', 'learned-per-head' or 'sum'",
        ),
    ],
)
def test_made_wrongly(spec, options, message):
    with pytest.raises(ValueError, match=message):
        made(spec, **options)


@pytest.mark.parametrize("need_weights", [False, True], ids=["result", "weights"])
@pytest.mark.parametrize("grad", [True, False], ids=["grad", "no_grad"])
@pytest.mark.parametrize("spec", ["V", "R", "D+FD"])
@pytest.mark.parametrize(
    "x, lengths, message",
    [
        (
            torch.randn(2, 7, 8),
            None,
            "length 7 is over max_length 6: build the layer with a larger max_length",
        ),
        (torch.randn(5, 8), None, "x has shape 5×8: it must be batch×length×width with width 8"),
        (torch.randn(1, 2, 5, 8), None, "x has shape 1×2×5×8: it must be batch×length×width"),
        (torch.randn(2, 5, 9), None, "x has shape 2×5×9: it must be batch×length×width with width 8"),
        (torch.randn(2, 5, 8).double(), None, "x has dtype Double and the layer Float"),
        (torch.ones(2, 5, 8).long(), None, "x has dtype Long and the layer Float"),
        (torch.randn(2, 5, 8, device="meta"), None, "x is on meta and the layer on cpu"),
        (torch.randn(2, 5, 8), [3, -1], r"lengths\[1\] is -1: it must be from 0 to 5"),
        (torch.randn(2, 5, 8), [6, 3], r"lengths\[0\] is 6: it must be from 0 to 5"),
        (torch.randn(2, 5, 8), [3], "lengths has 1 entries for a batch of 2"),
        (
            torch.randn(2, 5, 8),
            [[3, 3]],
            "lengths must be one int64 number per sample, not Long of shape 1×2",
        ),
        (torch.randn(2, 5, 8), 3, "lengths must be one int64 number per sample"),
        (torch.randn(2, 5, 8), [3.0, 2.0], "lengths has dtype torch.float32: it must hold whole numbers"),
        (torch.randn(2, 5, 8), [True, True], "lengths has dtype torch.bool: it must hold whole numbers"),
    ],
)
def test_called_wrongly(spec, x, lengths, message, grad, need_weights):
    a = made(spec)
    with torch.set_grad_enabled(grad), pytest.raises(ValueError, match=message):
        a(x, lengths=lengths, need_weights=need_weights)


def test_decoded_wrongly():
    with pytest.raises(ValueError, match="needs a layer made with causal = true"):
        made("V").start(batch=1)
    a = made("R+V", causal=True)
    with pytest.raises(ValueError, match="batch is -1: it must be at least 0"):
        a.start(-1)
    with pytest.raises(ValueError, match="batch is 1.5: it must be a whole number"):
        a.start(1.5)
    state = a.start(batch=2)
    for x, message in [
        (torch.randn(3, 8), "x has 3 rows for a state of 2"),
        (torch.randn(2, 1, 8), "x has shape 2×1×8: it must be batch×width with width 8"),
        (torch.randn(2, 8).double(), "x has dtype Double and the layer Float"),
        (torch.randn(2, 8, device="meta"), "x is on meta and the layer on cpu"),
    ]:
        with pytest.raises(ValueError, match=message):
            a.step(x, state)
    assert state.position == 0
    for indices, message in [
        (torch.tensor([0, 2]), r"indices\[1\] is 2: it must be from 0 to 1"),
        (torch.tensor([-1]), r"indices\[0\] is -1: it must be from 0 to 1"),
        (torch.tensor([0.0]), "must be a list of int64 numbers"),
    ]:
        with pytest.raises(ValueError, match=message):
            state.reorder(indices)
    for _ in range(6):
        a.step(torch.randn(2, 8), state)
    with pytest.raises(ValueError, match="step 7 is past max_length 6"):
        a.step(torch.randn(2, 8), state)


def test_counted_wrongly():
    for length in (-1, 7):
        with pytest.raises(ValueError, match=f"length is {length}: it must be from 0 to max_length 6"):
            made().count(length)


def test_a_mistake_leaves_the_layer_as_it_was():
    a, x = layer("R+V"), torch.randn(1, 5, WIDTH)
    before = a(x)
    for wrong in (lambda: a(torch.randn(1, LONGEST + 1, WIDTH)), lambda: a.grow(1), lambda: a.grow("x")):
        with pytest.raises(ValueError):
            wrong()
    assert torch.equal(a(x), before)


def test_options_arrive_as_what_they_are():
    assert made("D", hidden=0).options == {"hidden": 0}
    assert type(made("D", hidden=0).options["hidden"]) is int
    assert made("D", share_heads=True).options["share_heads"] is True
    assert made("R", init_std=1).options == {"init_std": 1}
    assert type(made("R", init_std=1.0).options["init_std"]) is float
    assert made("FD", tiling="tile").options == {"tiling": "tile"}


def test_numbers_of_numpy_and_torch():
    a = made("D+FR", width=np.int64(8), heads=np.int32(2), dropout=np.float32(0.5), causal=np.bool_(True))
    assert (a.width, a.heads, a.dropout, a.causal) == (8, 2, 0.5, True)
    b = made(
        "D+FR", rank=np.int64(3), init_std=np.float32(0.5), share_heads=np.bool_(True), hidden=torch.tensor(4)
    )
    assert b.options == {"rank": 3, "init_std": 0.5, "share_heads": True, "hidden": 4}
