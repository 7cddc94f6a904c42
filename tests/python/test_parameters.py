"""Names, shapes and counts of the parameters: others rely on them."""

import pytest
import torch

import synthesizer
from cases import MIXTURES, OPTIONS, SPECS, layer, name

D, H, N = 24, 3, 20
K, A, B = D // H, 4, 5  # a: the largest power of two ≤ sqrt(20); b: 20 / a rounded up

SHAPES = {
    "V": {"query.weight": (D, D), "key.weight": (D, D)},
    "D": {"hidden.weight": (D, D), "hidden.bias": (D,), "out.weight": (H, K, N), "out.bias": (H, N)},
    "R": {"table": (H, N, N)},
    "Fix": {"table": (H, N, N)},
    "FR": {"left": (H, N, 8), "right": (H, N, 8)},
    "FD": {
        "hidden.weight": (D, D),
        "hidden.bias": (D,),
        "a.weight": (H, K, A),
        "a.bias": (H, A),
        "b.weight": (H, K, B),
        "b.bias": (H, B),
    },
}


def shapes(spec, **options):
    a = synthesizer.Attention(spec, width=D, heads=H, max_length=N, **options)
    return {key: tuple(tensor.shape) for key, tensor in a.state_dict().items()}


@pytest.mark.parametrize("spec", SPECS)
def test_names_and_shapes(spec):
    wanted = {"value.weight": (D, D), "output.weight": (D, D)}
    members = spec.split("+")
    for member in members:
        wanted.update({f"logits.{member}.{key}": shape for key, shape in SHAPES[member].items()})
    if spec in MIXTURES:
        wanted["logits.mixture"] = (len(members),)
    assert shapes(spec) == wanted


def test_names_and_shapes_of_options():
    assert shapes("V", bias=True)["value.bias"] == shapes("V", bias=True)["output.bias"] == (D,)
    shared = shapes("D", share_heads=True)
    assert shared["logits.D.out.weight"] == (K, N) and shared["logits.D.out.bias"] == (N,)
    flat = shapes("D", hidden=0)
    assert flat["logits.D.out.weight"] == (H, D, N) and "logits.D.hidden.weight" not in flat
    assert shapes("D", hidden=5)["logits.D.hidden.weight"] == (H * 5, D)
    assert shapes("FR", rank=3)["logits.FR.left"] == (H, N, 3)
    assert shapes("FD", a=3)["logits.FD.b.weight"] == (H, K, 7)
    assert shapes("FD", b=3)["logits.FD.a.weight"] == (H, K, 7)
    assert shapes("D+FR+V", weights="learned-per-head")["logits.mixture"] == (H, 3)
    assert "logits.mixture" not in shapes("R+V", weights="sum")


def test_fixed_table_is_a_buffer():
    a = layer("Fix")
    assert [key for key, _ in a.named_buffers()] == ["logits.Fix.table"]
    assert [key for key, _ in a.named_parameters()] == ["value.weight", "output.weight"]


@pytest.mark.parametrize("spec, options", [(spec, {}) for spec in SPECS] + OPTIONS, ids=name)
def test_count(spec, options):
    a = layer(spec, **options)
    sizes = {key: parameter.numel() for key, parameter in a.named_parameters()}
    count = a.count()
    assert count["total"] == sum(sizes.values())
    assert count["synthesis"] == sum(size for key, size in sizes.items() if key.startswith("logits."))
    assert count["macs"] > a.count(length=1)["macs"] > a.count(length=0)["macs"] == 0


def test_macs_of_vanilla():
    a = layer("V", width=16, heads=2, max_length=10)
    # Four projections; the product of queries and keys, and that of weights and values.
    assert a.count(length=7)["macs"] == 4 * 7 * 16 * 16 + 2 * 7 * 7 * 16


def test_variants():
    found = synthesizer.variants()
    keys = {"name", "short", "tokens", "sample", "interacts", "parameters"}
    assert all(set(variant) == keys for variant in found)
    by_short = {variant["short"]: variant for variant in found}
    assert set(SHAPES) <= set(by_short)
    for variant in found:
        assert variant["tokens"] in ("all", "own", "none")
        assert variant["sample"] == ("global" if variant["tokens"] == "none" else "local")
        assert variant["interacts"] is (variant["tokens"] == "all")
    assert by_short["FR"]["name"] == "factorized-random"


@pytest.mark.parametrize("variant", synthesizer.variants(), ids=lambda v: v["short"])
def test_long_and_short_names_mean_the_same(variant):
    assert shapes(variant["name"]) == shapes(variant["short"]) == shapes(variant["short"].lower())


def test_seed_gives_one_model_in_every_precision():
    wide, narrow = layer("R+V", dtype=torch.float64), layer("R+V", dtype=torch.bfloat16)
    for key, tensor in wide.state_dict().items():
        assert torch.equal(tensor.to(torch.bfloat16), narrow.state_dict()[key]) or key == "logits.mixture"
