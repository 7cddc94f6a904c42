"""Metrics, one function each, with the numbers of `synth score`.

>>> from synthesizer import metrics
>>> round(metrics.bleu(["the cat sat on the mat"], ["the cat sat on a mat"])["bleu"], 2)
53.73
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from . import _C

References = "Sequence[str] | Sequence[Sequence[str]]"


def bleu(hyps: Sequence[str], refs: References, **options: object) -> dict:
    """BLEU as sacreBLEU has it. `refs`: one text a hypothesis, or several lists of them.

    Options as of `synth score bleu`: tokenize="13a", lowercase=True, …
    """
    return _measure("bleu", hyps, refs, options)


def chrf(hyps: Sequence[str], refs: References, **options: object) -> dict:
    """chrF as sacreBLEU has it; word_order=2 is chrF++.

    >>> round(chrf(["the cat sat"], ["the cat sits"], word_order=2)["chrf"], 2)
    60.39
    """
    return _measure("chrf", hyps, refs, options)


def rouge(hyps: Sequence[str], refs: References, **options: object) -> dict:
    """ROUGE as Google's rouge-score has it: rouge1, rouge2, rougeL and rougeLsum, means of F, and each with
    `_precision` and `_recall`. The word <n> parts sentences; stem=True compares stems.

    >>> found = rouge(["the cats sat down"], ["the cat sat"], stem=True)
    >>> round(found["rouge1"], 2), found["rouge1_recall"]
    (85.71, 100.0)
    """
    return _measure("rouge", hyps, refs, options)


def caption(hyps: Sequence[str], refs: References) -> dict:
    """bleu1 to bleu4, rougeL and cider as the COCO caption toolkit has them, times 100, of tokenized texts.

    >>> found = caption(["a man rides a wave", "a cat"], ["a man rides a big wave", "a cat sits"])
    >>> round(found["bleu1"], 2), round(found["rougeL"], 2)
    (75.15, 83.33)
    """
    return _measure("caption", hyps, refs, {})


def meteor(hyps: Sequence[str], refs: References, **options: object) -> dict:
    """METEOR as NLTK has it. Synonyms are those of WordNet, in Debian's wordnet-base, or in wordnet="FOLDER".

    >>> round(meteor(["the car was running"], ["the auto ran"])["meteor"], 2)
    60.48
    """
    return _measure("meteor", hyps, refs, options)


def embedding(hyps: Sequence[str], refs: References, vectors: str | os.PathLike, **options: object) -> dict:
    """average, extrema and greedy: cosines of the words' vectors as nlg-eval has them, times 100.

    `vectors`: a text file of word2vec or GloVe. unknown="skip" leaves out words that have none.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "vectors.txt")
    ...     _ = file.write_text("cat 1 0\\ndog 0.8 0.6\\n")
    ...     round(embedding(["cat"], ["dog"], vectors=file)["greedy"], 2)
    80.0
    """
    return _measure("embedding", hyps, refs, {"vectors": vectors, **options})


def exact_match(hyps: Sequence[str], refs: References) -> dict:
    """The share of texts that are one of their references, letter by letter.

    >>> exact_match(["one", "two"], ["one", "three"])["exact_match"]
    50.0
    """
    return _measure("exact_match", hyps, refs, {})


def classify(hyps: Sequence[str], refs: Sequence[str], **options: object) -> dict:
    """accuracy, macro_f1 and matthews of labels, times 100; with positive="LABEL" its f1, too.

    >>> classify(["yes", "no", "no", "no"], ["yes", "no", "yes", "no"], positive="yes")["accuracy"]
    75.0
    """
    return _measure("classify", hyps, refs, options)


def regress(hyps: Sequence[float], refs: Sequence[float]) -> dict:
    """pearson and spearman, times 100, of numbers.

    >>> round(regress([1, 2, 4], [10, 20, 30])["pearson"], 2)
    98.2
    """
    return _measure("regress", [repr(float(h)) for h in hyps], [repr(float(r)) for r in refs], {})


def _measure(name: str, hyps: Sequence[str], refs: References, options: dict) -> dict:
    refs = list(refs)
    sets = [refs] if all(isinstance(r, str) for r in refs) else [list(r) for r in refs]
    texts = {
        key.replace("_", "-"): str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in options.items()
    }
    return _C.measure(name, list(hyps), sets, texts)
