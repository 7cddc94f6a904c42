"""The paper's baselines as layers: the same constructor, the same behaviour, their own formulas."""

import copy
import pickle

import pytest
import torch
from torch.func import functional_call

import baseline_reference
import synthesizer
from cases import LONGEST, WIDTH, close, layer, name, wide

CASES = [
    ("light-conv", {}),
    ("light-conv", {"causal": True}),
    ("light-conv", {"kernel": 1}),
    ("light-conv:31", {"causal": True, "bias": True}),
    ("dynamic-conv", {}),
    ("dynamic-conv", {"causal": True, "kernel": 4}),
    ("dynamic-conv:63", {"bias": True}),
    ("light-conv", {"causal": True, "groups": WIDTH}),
    ("dynamic-conv", {"causal": True, "groups": WIDTH}),
    ("dynamic-conv:9", {"causal": True, "groups": 12}),
    ("dynamic-conv:5", {"groups": WIDTH, "bias": True}),
    ("linformer", {}),
    ("linformer:5", {"bias": True}),
    ("linformer", {"rank": 3, "share_heads": False}),
    ("linformer", {"rank": 3, "share_kv": True}),
]
CAUSAL = [(spec, options) for spec, options in CASES if options.get("causal")]
every_baseline = pytest.mark.parametrize("spec, options", CASES, ids=name)


def formula(a, state, x, lengths=None):
    return baseline_reference.mix(
        a.attention.split(":")[0], state, x, a.heads, a.causal, lengths, a.options.get("groups")
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=name)
@pytest.mark.parametrize("length", [1, 12, LONGEST])
@every_baseline
def test_formula(spec, options, length, dtype):
    a = layer(spec, dtype=dtype, **options)
    x = torch.randn(3, length, WIDTH).to(dtype).requires_grad_()
    lengths = torch.tensor([length, (length + 1) // 2, 0])
    for given in (None, lengths):
        a.zero_grad()
        x.grad = None
        state, wide_x = wide(a), x.detach().double().requires_grad_()
        y, wanted = a(x, lengths=given), formula(a, state, wide_x, given)
        close(y, wanted, dtype)
        grad = torch.randn(y.shape, generator=torch.Generator().manual_seed(7)).to(dtype)
        y.backward(grad)
        wanted.backward(grad.double())
        close(x.grad, wide_x.grad, dtype, scale=2)
        for key, parameter in a.named_parameters():
            close(parameter.grad, state[key].grad, dtype, scale=2)


@pytest.mark.parametrize("lengths", [None, torch.tensor([3, 0])], ids=["full", "padded"])
@pytest.mark.parametrize("dropout", [0.0, 0.4])
@every_baseline
def test_gradcheck(spec, options, dropout, lengths):
    options = {**options, **({"rank": 3} if spec == "linformer" else {})}
    if "groups" in options:
        options["groups"] = 4
    a = layer(spec, width=4, heads=2, max_length=5, dtype=torch.float64, dropout=dropout, **options)
    names, parameters = zip(*a.named_parameters())

    def call(x, *tensors):
        torch.manual_seed(3)
        return functional_call(a, dict(zip(names, tensors)), (x,), {"lengths": lengths})

    x = torch.randn(2, 4, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(call, (x, *parameters), fast_mode=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=name)
@pytest.mark.parametrize("spec, options", CAUSAL, ids=name)
def test_step_is_the_row_of_forward(spec, options, dtype):
    a = layer(spec, dtype=dtype, **options)
    x, state, rows = torch.randn(2, LONGEST, WIDTH).to(dtype), a.start(batch=2), []
    for t in range(LONGEST):
        row, state = a.step(x[:, t], state)
        rows.append(row)
    close(torch.stack(rows, 1), a(x), dtype)
    assert (state.batch, state.position) == (2, LONGEST)


@pytest.mark.parametrize("spec, options", CAUSAL, ids=name)
def test_reorder_goes_on_from_other_beams(spec, options):
    a, x, indices = layer(spec, **options), torch.randn(3, 8, WIDTH), torch.tensor([2, 0, 0, 1])
    state = a.start(batch=3)
    for t in range(7):
        a.step(x[:, t], state)
    state.reorder(indices)
    token = torch.randn(4, WIDTH)
    beams = torch.cat([x[indices, :7], token[:, None]], 1)
    close(a.step(token, copy.deepcopy(state))[0], a(beams)[:, 7], torch.float32)


@every_baseline
def test_weights_are_refused(spec, options):
    with pytest.raises(ValueError, match="has no attention weights to return"):
        layer(spec, **options)(torch.randn(1, 3, WIDTH), need_weights=True)


@pytest.mark.parametrize(
    "spec, options, message",
    [
        ("linformer", {"causal": True}, "linformer cannot be causal: make the layer with causal = false"),
        (
            "linformer",
            {"rank": LONGEST + 1},
            f"option 'rank' is 34: it must be from 1 to max_length {LONGEST}",
        ),
        ("light-conv", {"kernel": 4}, "option 'kernel' is 4: it must be odd where the window is centred"),
        ("light-conv", {"kernel": 0}, "option 'kernel' is 0: it must be at least 1"),
        (
            "dynamic-conv",
            {"groups": 5},
            "option 'groups' is 5: it must be from heads 3 to width 24, and the width",
        ),
        ("dynamic-conv", {"groups": 2}, "option 'groups' is 2: it must be from heads 3"),
        ("light-conv", {"groups": 48}, "option 'groups' is 48: it must be from heads 3 to width 24"),
        ("dynamic-conv:5", {"kernel": 7}, "attention 'dynamic-conv:5' and option 'kernel' = 7 disagree"),
        ("dynamic-conv:x", {}, "the part after the colon must be its kernel, a whole number"),
        ("R+light-conv", {}, "light-conv has no logits, so it cannot be a member of a mixture"),
        ("light-conf", {}, "unknown attention 'light-conf', did you mean 'light-conv'?"),
    ],
)
def test_made_wrongly(spec, options, message):
    with pytest.raises(ValueError, match=message):
        layer(spec, **options)


@every_baseline
def test_state_dict_copies_and_repr(spec, options):
    a, b = layer(spec, seed=1, **options), layer(spec, seed=2, **options)
    x = torch.randn(2, 9, WIDTH)
    b.load_state_dict(a.state_dict())
    assert torch.equal(a(x), b(x))
    for copied in (copy.deepcopy(a), pickle.loads(pickle.dumps(a))):
        assert repr(copied) == repr(a) and torch.equal(copied(x), a(x))
    assert repr(spec) in repr(a)


@every_baseline
def test_grow(spec, options):
    a, x = layer(spec, **options), torch.randn(2, 50, WIDTH)
    before = a(x[:, :LONGEST]).detach()
    a.grow(50)
    close(a(x[:, :LONGEST]), before, torch.float32)
    close(a(x), formula(a, wide(a), x.double()), torch.float32)


@every_baseline
def test_dropout_in_training_alone(spec, options):
    a, plain = layer(spec, dropout=0.5, **options), layer(spec, **options)
    x = torch.randn(2, 9, WIDTH)
    assert not torch.equal(a(x), plain(x))
    assert torch.equal(a.eval()(x), plain(x))


@every_baseline
def test_autocast(spec, options):
    a, x = layer(spec, **options), torch.randn(2, 11, WIDTH)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = a(x, lengths=[11, 6])
    assert y.dtype == torch.bfloat16
    y.float().square().sum().backward()
    wanted = a(x, lengths=[11, 6])
    assert (y - wanted).abs().max() < 0.05 * wanted.abs().max()
    assert all(parameter.grad.dtype == torch.float32 for parameter in a.parameters())


@every_baseline
def test_meta(spec, options):
    y = layer(spec, **options).to("meta")(torch.randn(2, 5, WIDTH, device="meta"))
    assert y.is_meta and y.shape == (2, 5, WIDTH)


@pytest.mark.parametrize("baseline", synthesizer.baselines(), ids=lambda r: r["name"])
def test_registry(baseline):
    assert set(baseline) == {"name", "help", "causal", "parameters", "options"}
    a = layer(baseline["name"])
    count, sizes = a.count(), {key: p.numel() for key, p in a.named_parameters()}
    makers = ("kernel.", "query.", "key.", "project.")
    assert count["total"] == sum(sizes.values())
    assert count["synthesis"] == sum(n for key, n in sizes.items() if key.startswith(makers))
    assert baseline["name"] not in [v["name"] for v in synthesizer.variants()]
