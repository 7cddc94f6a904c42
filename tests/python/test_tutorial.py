"""The tutorial classes: their figures, and that they compute what they say."""

import math

import pytest
import torch

import synthesizer as s

D, N = 1024, 32
SQUARE, ROW = D * D + D, N * N + N  # a biased map of the width, and one of the length

LAYERS = {
    "vanilla": (lambda: s.Transformer(D), 3 * SQUARE, 3 * D * D + 1),
    "dense": (lambda: s.SynthesizerDense(D, N), SQUARE + D * N + N + ROW, D * D + D * N + N * N + 2),
    "random": (lambda: s.SynthesizerRandom(D, N), SQUARE + N * N, D * D + 1),
    "fixed": (lambda: s.SynthesizerRandom(D, N, fixed=True), SQUARE + N * N, D * D + 1),
    "factorized random": (
        lambda: s.FactorizedSynthesizerRandom(D),
        SQUARE + 2 * 8 * (D + 1),
        D * D + 16 * D + 1,
    ),
    "factorized dense": (
        lambda: s.FactorizedSynthesizerDense(D, N),
        SQUARE + (4 + 8) * (D + 1),
        D * D + 12 * D + 1,
    ),
    "mixture": (lambda: s.MixtureSynthesizers(D, N), 3 * SQUARE + N * N, 3 * D * D + 1),
}
PRINTED = {
    "vanilla": (3148800, 3145729),
    "dense": (1083456, 1082370),
    "random": (1050624, 1048577),
    "fixed": (1050624, 1048577),
    "factorized random": (1066000, 1064961),
    "factorized dense": (1061900, 1060865),
    "mixture": (3149824, 3145729),
}


@pytest.mark.parametrize("name", LAYERS)
def test_figures(name):
    make, parameters, flops = LAYERS[name]
    layer = make()
    assert (
        (s.get_n_params(layer), s.calculate_flops(layer.children())) == (parameters, flops) == PRINTED[name]
    )


@pytest.mark.parametrize("name", LAYERS)
def test_shapes_and_softmax(name):
    out, attention_map = LAYERS[name][0]()(torch.randn(2, N, D))
    assert out.shape == (2, N, D)
    assert attention_map.shape == (1 if name in ("random", "fixed") else 2, N, N)
    torch.testing.assert_close(attention_map.sum(-1), torch.ones(attention_map.shape[:2]))


def test_what_is_trained():
    assert s.SynthesizerRandom(8, 4).table.requires_grad
    fixed = s.SynthesizerRandom(8, 4, fixed=True)
    assert isinstance(fixed.table, torch.nn.Parameter) and not fixed.table.requires_grad


def formula(layer, x):
    """The logits, entry by entry."""
    rows = []
    for token in x:
        if isinstance(layer, s.Transformer):
            row = layer.key(x) @ layer.query(token) / math.sqrt(x.size(-1))
        elif isinstance(layer, s.SynthesizerDense):
            row = layer.row(torch.relu(layer.hidden(token)))
        elif isinstance(layer, s.FactorizedSynthesizerDense):
            row = torch.stack([layer.a(token)[j % 4] * layer.b(token)[j // 4] for j in range(len(x))])
        elif isinstance(layer, s.FactorizedSynthesizerRandom):
            row = layer.right(x) @ layer.left(token)
        else:
            row = torch.zeros(len(x))
        rows.append(row)
    return torch.stack(rows) + (layer.table[0] if hasattr(layer, "table") else 0)


@pytest.mark.parametrize(
    "layer",
    [
        s.Transformer(8),
        s.SynthesizerDense(8, 6),
        s.SynthesizerRandom(8, 6),
        s.FactorizedSynthesizerDense(8, 6),
        s.FactorizedSynthesizerRandom(8),
        s.MixtureSynthesizers(8, 6),
    ],
    ids=lambda layer: type(layer).__name__,
)
def test_formula(layer):
    x = torch.randn(2, 6, 8)
    out, attention_map = layer(x)
    for n in range(2):
        wanted = torch.softmax(formula(layer, x[n]), -1)
        torch.testing.assert_close(attention_map.expand(2, -1, -1)[n], wanted)
        torch.testing.assert_close(out[n], wanted @ layer.value(x[n]))


@pytest.mark.parametrize("kind", [s.SynthesizerDense, s.SynthesizerRandom, s.FactorizedSynthesizerDense])
def test_lengths(kind):
    layer = kind(8, 6)
    assert layer(torch.randn(2, 5, 8))[1].shape[-2:] == (5, 5)
    with pytest.raises(ValueError, match="length 7 is over sentence_length 6"):
        layer(torch.randn(2, 7, 8))
