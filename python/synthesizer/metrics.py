"""Metrics, one function each, with the numbers of `synth score`.

>>> from synthesizer import metrics
>>> round(metrics.bleu(["the cat sat on the mat"], ["the cat sat on a mat"])["bleu"], 2)
53.73
"""

from __future__ import annotations

from collections.abc import Sequence

from . import _C

References = "Sequence[str] | Sequence[Sequence[str]]"


def bleu(hyps: Sequence[str], refs: References, **options: object) -> dict:
    """BLEU as sacreBLEU has it. `refs`: one text a hypothesis, or several lists of them.

    Options as of `synth score bleu`: tokenize="13a", lowercase=True, …
    """
    return _measure("bleu", hyps, refs, options)


def chrf(hyps: Sequence[str], refs: References, **options: object) -> dict:
    """chrF as sacreBLEU has it; word_order=2 is chrF++."""
    return _measure("chrf", hyps, refs, options)


def _measure(name: str, hyps: Sequence[str], refs: References, options: dict) -> dict:
    sets = [list(refs)] if all(isinstance(r, str) for r in refs) else [list(r) for r in refs]
    texts = {
        key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in options.items()
    }
    return _C.measure(name, list(hyps), sets, texts)
