"""torch.ops.synthesizer.attend itself: what torch asks of an operator, and its gradients."""

import pytest
import torch

import synthesizer  # noqa: F401  registers the operators

B, H, L, M, F, K = 2, 3, 5, 5, 4, 6
PARTS = {
    "query": ((B, H, L, F), "query key"),
    "key": ((B, H, M, F), "query key"),
    "row": ((B, H, L, F), "row column"),
    "column": ((H, M, F), "row column"),
    "table": ((H, L, M), "table"),
    "left": ((B, H, L, 2), "left right"),
    "right": ((B, H, L, 3), "left right"),
    "bias": ((B, H, L, M), "bias"),
}
ORDER = ["query", "key", "scale", "row", "column", "table", "left", "right", "tile", "value"]
ORDER += [
    "row_lengths",
    "column_lengths",
    "causal",
    "dropout",
    "seed",
    "rows",
    "table_scale",
    "bias",
    "drawn",
]
GRADIENTS = ["query", "key", "row", "column", "table", "left", "right", "value", "table_scale", "bias"]

CASES = {
    "products": {"parts": "query key", "scale": 0.5},
    "shared_products": {"parts": "row column table"},
    "table": {"parts": "table"},
    "outer": {"parts": "left right"},
    "tiled": {"parts": "left right", "tile": True},
    "everything": {"parts": "query key row column table left right", "causal": True},
    "padded": {"parts": "query key table", "lengths": [4, 0]},
    "padded_table": {"parts": "table", "lengths": [4, 0]},
    "causal_table": {"parts": "table", "causal": True, "lengths": [5, 2]},
    "dropout": {"parts": "query key", "dropout": 0.4, "seed": 11},
    "dropout_table": {"parts": "table", "dropout": 0.4, "seed": 11},
    "one_row_table": {"parts": "table", "one_row": True, "lengths": [4, 0]},
    "causal_one_row_table": {"parts": "table", "one_row": True, "causal": True},
    "three_rows": {"parts": "table", "one_row": True, "rows": 3},
    "products_and_one_row": {"parts": "query key table", "one_row": True},
    "shared_rows": {"parts": "row column", "shared_row": True},
    "scaled_table": {"parts": "table", "table_scale": H, "causal": True},
    "padded_shared_rows": {
        "parts": "row column table",
        "shared_row": True,
        "table_scale": 1,
        "lengths": [4, 0],
    },
    "bias": {"parts": "bias", "lengths": [4, 0]},
    "bias_and_table": {"parts": "bias table", "causal": True},
    "bias_and_everything": {"parts": "query key row column table left right bias", "causal": True},
    "bias_and_shared_rows": {"parts": "row column bias", "shared_row": True, "dropout": 0.4, "seed": 11},
    "drawn_seed": {"parts": "query key", "dropout": 0.4, "seed": 11, "drawn": torch.tensor([5])},
    "products_and_shared_rows": {"parts": "query key row column table", "shared_row": True, "table_scale": H},
}


def arguments(
    parts,
    dtype=torch.float32,
    grad=False,
    lengths=None,
    one_row=False,
    shared_row=False,
    table_scale=0,
    **others,
):
    def tensor(shape):
        return torch.randn(shape, dtype=torch.float64).to(dtype).requires_grad_(grad)

    given = {part: tensor(shape) if part in parts.split() else None for part, (shape, _) in PARTS.items()}
    if one_row:
        given["table"] = tensor((H, 1, M))
    if shared_row:
        given["row"] = tensor((H, L, F))
    given |= {
        "table_scale": tensor((table_scale,)) if table_scale else None,
        "value": tensor((B, H, M, K)),
        "scale": 1.0,
        "tile": False,
        "causal": False,
        "dropout": 0.0,
        "seed": 0,
        "rows": None,
        "drawn": None,
    }
    given |= {side: lengths and torch.tensor(lengths) for side in ("row_lengths", "column_lengths")}
    given |= others
    return tuple(given[name] for name in ORDER)


@pytest.mark.parametrize(
    "dtype, grad",
    [(torch.float32, False), (torch.float32, True), (torch.bfloat16, True), (torch.float64, True)],
    ids=["float32-plain", "float32", "bfloat16", "float64"],
)
@pytest.mark.parametrize("case", CASES)
def test_opcheck(case, dtype, grad):
    given = arguments(dtype=dtype, grad=grad, **CASES[case])
    # bfloat16 gradients of the traced and the eager graph may be rounded in another order.
    tolerance = {"atol": 2e-2, "rtol": 2e-2} if dtype == torch.bfloat16 else {}
    torch.library.opcheck(torch.ops.synthesizer.attend.default, given, **tolerance)


@pytest.mark.parametrize("case", CASES)
def test_opcheck_of_the_parts(case):
    given = arguments(**CASES[case])
    torch.library.opcheck(torch.ops.synthesizer.attend_forward.default, given)
    result, saved = torch.ops.synthesizer.attend_forward(*given)
    wanted = [given[ORDER.index(part)] is not None for part in GRADIENTS]
    backward = (torch.randn_like(result), result, saved, *given, wanted)
    torch.library.opcheck(torch.ops.synthesizer.attend_backward.default, backward)


@pytest.mark.parametrize("case", CASES)
def test_gradients(case):
    given = arguments(dtype=torch.float64, grad=True, **CASES[case])
    tensors = [t for t in given if torch.is_tensor(t) and t.requires_grad]

    def call(*replaced):
        left = iter(replaced)
        filled = (next(left) if torch.is_tensor(t) and t.requires_grad else t for t in given)
        return torch.ops.synthesizer.attend(*filled)

    assert torch.autograd.gradcheck(call, tensors, fast_mode=True)


@pytest.mark.parametrize("case", CASES)
def test_block_code_agrees_with_whole_matrices(case):
    """float32 goes block by block, float64 through plain matrices: one mask, one result, one gradient."""
    torch.manual_seed(1)
    wide = arguments(dtype=torch.float64, grad=True, **CASES[case])
    torch.manual_seed(1)
    narrow = arguments(dtype=torch.float32, grad=True, **CASES[case])
    results = [torch.ops.synthesizer.attend(*given) for given in (wide, narrow)]
    torch.testing.assert_close(results[0].float(), results[1], atol=1e-5, rtol=1e-5)
    for result in results:
        result.square().sum().backward()
    for theirs, ours in zip(wide, narrow):
        if torch.is_tensor(theirs) and theirs.requires_grad:
            torch.testing.assert_close(theirs.grad.float(), ours.grad, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_one_row_of_a_table_serves_all(dtype):
    given = arguments("table", dtype=dtype, one_row=True)
    table, value = given[ORDER.index("table")], given[ORDER.index("value")]
    result = torch.ops.synthesizer.attend(*given)
    torch.testing.assert_close(result, (table.softmax(-1) @ value).expand(B, H, M, K))


def test_a_drawn_seed_is_added():
    given = arguments("query key", dropout=0.4, seed=11, drawn=torch.tensor([5]))
    plain = list(given)
    plain[ORDER.index("seed")], plain[ORDER.index("drawn")] = 16, None
    assert torch.equal(torch.ops.synthesizer.attend(*given), torch.ops.synthesizer.attend(*plain))


def test_a_bias_may_be_expanded():
    given = list(arguments("query key bias"))
    shared = torch.randn(1, 1, L, M)
    given[ORDER.index("bias")] = shared.expand(B, H, L, M)
    expanded = torch.ops.synthesizer.attend(*given)
    given[ORDER.index("bias")] = shared.expand(B, H, L, M).contiguous()
    assert torch.equal(expanded, torch.ops.synthesizer.attend(*given))
    given[ORDER.index("bias")] = torch.randn(B, H, M, L).mT  # and its rows may be columns
    turned = torch.ops.synthesizer.attend(*given)
    given[ORDER.index("bias")] = given[ORDER.index("bias")].contiguous()
    assert torch.equal(turned, torch.ops.synthesizer.attend(*given))


def test_second_derivatives_are_refused():
    given = arguments("query key", grad=True)
    (first,) = torch.autograd.grad(torch.ops.synthesizer.attend(*given).sum(), given[0], create_graph=True)
    with pytest.raises(RuntimeError):
        torch.autograd.grad(first.sum(), given[0])


def changed(name, value, parts="query key table"):
    given = list(arguments(parts))
    given[ORDER.index(name)] = value
    return given


@pytest.mark.parametrize(
    "given, message",
    [
        (
            changed("value", torch.randn(B, H, K)),
            "value has shape 2×3×6: it must be batch×heads×columns×width",
        ),
        (changed("query", torch.randn(B, H, L, F + 1)), "key has shape 2×3×5×4: it must be 2×3×5×5"),
        (changed("key", None), "query and key go together"),
        (changed("table", torch.randn(H, L, M + 1)), "table has shape 3×5×6: it must be 3×5×5"),
        (changed("bias", torch.randn(H, L, M)), "bias has shape 3×5×5: it must be 2×3×5×5"),
        (changed("bias", torch.randn(B, H, L, M).double()), "bias has dtype Double and value Float"),
        (changed("column", torch.randn(H, M, F)), "row and column go together"),
        (
            changed("right", torch.randn(B, H, L, 2), "left right"),
            "2 and 2 columns: their product must reach 5",
        ),
        (changed("table", torch.randn(H, L, M).double()), "table has dtype Double and value Float"),
        (changed("value", torch.ones(B, H, M, K).int()), "value has dtype Int: it must be float32"),
        (changed("row_lengths", torch.tensor([1, 6])), r"row_lengths\[1\] is 6: it must be from 0 to 5"),
        (changed("column_lengths", torch.tensor([-1, 5])), r"column_lengths\[0\] is -1: it must be from 0"),
        (changed("column_lengths", torch.tensor([5])), "column_lengths has 1 entries for a batch of 2"),
        (changed("row_lengths", torch.tensor([1.0, 2.0])), "row_lengths must be one int64 number per sample"),
        (changed("dropout", 1.0), "dropout is 1: it must be at least 0 and below 1"),
        (changed("dropout", float("nan")), "dropout is nan"),
        (changed("rows", L + 1), "rows is 6: the logits have 5 rows"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_input(given, message):
    with pytest.raises(ValueError, match=message):
        torch.ops.synthesizer.attend(*given)


def test_causal_needs_a_square():
    given = arguments("query key", causal=True, query=torch.randn(B, H, L - 1, F))
    with pytest.raises(ValueError, match="as many rows as columns, not 4 and 5"):
        torch.ops.synthesizer.attend(*given)
